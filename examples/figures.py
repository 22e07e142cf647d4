"""Draw the pictures of the README and the docs: `make figures`."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from numpy.typing import NDArray
from rich.console import Console

from examples.late_feedback import ADS, ROUNDS, SEED, Game, played

IMAGES = Path(__file__).parents[1] / "docs" / "images"
VISITORS = np.unique(np.geomspace(50, ROUNDS, 500).astype(int))  # with fewer, the shares are noise
STYLES = {
    "practical experts": ("tab:green", "-"),
    "practical bandit": ("tab:red", "-"),
    "experts": ("tab:green", "--"),
    "partially concealed": ("tab:blue", "--"),
    "concealed": ("tab:red", "--"),
}


def sales(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sales to the first visitors, for every number of visitors in the figure."""
    sold: NDArray[np.float64] = np.cumsum(1.0 - losses)[VISITORS - 1]
    return sold


def late_feedback(path: Path) -> None:
    """Draw the sales of each learner of late_feedback.py, beside those of the best ad alone."""
    game = Game.drawn(np.random.default_rng(SEED))
    best = int(game.losses.sum(axis=0).argmin())
    reference = sales(game.losses[:, best])
    figure, axes = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
    axes.axhline(100.0, color="0.55", linewidth=1.0)
    axes.text(ROUNDS, 101.0, f"always the {ADS[best]}", color="0.35", ha="right")
    chance = 100.0 * sales(game.losses.mean(axis=1)) / reference
    axes.plot(VISITORS, chance, color="0.55", linewidth=1.0)
    axes.text(ROUNDS, float(chance[-1]) + 2.0, "chance", color="0.35", ha="right")
    for name, losses in played(game, Console(stderr=True)).items():
        share = 100.0 * sales(losses) / reference
        color, style = STYLES[name]
        axes.plot(VISITORS, share, style, color=color, linewidth=1.8, label=name)
    axes.set(xlabel="visitors so far", ylabel="sales so far, % of the best ad's", ylim=(35, 106))
    axes.set(xscale="log", xlim=(VISITORS[0], ROUNDS))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=False, fontsize=9, ncols=2)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


if __name__ == "__main__":
    mpl.use("agg")
    mpl.rcParams["svg.hashsalt"] = "belated"
    late_feedback(IMAGES / "late-feedback.svg")
