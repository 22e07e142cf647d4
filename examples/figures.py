"""Draw the picture of the README: `make figures`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from numpy.typing import NDArray

import belated
from belated.comparison.result import Comparison
from belated.environments.environment import Environment, Span
from belated.environments.losses import Bernoulli
from examples.late_feedback import ADS, DELAYS, ROUNDS, SALES, SEED

IMAGES = Path(__file__).parents[1] / "docs" / "images"
RUNS = 40
FIRST = 200  # visitors: before, the shares are mostly noise
LABELS = ("Experts observe the outcome of every ad", "Bandits observe only that of the ad shown")
PANELS = (  # learner, name in the figure, colour (distinct for the colour-blind), dashes
    (
        ("practical-experts", "belated.Experts", "#0072B2", "-"),
        ("full-information", "the paper's experts", "#D55E00", (0, (5, 1.6))),
    ),
    (
        ("practical-bandit", "belated.Bandit", "#0072B2", "-"),
        ("partially-concealed", "the paper's, partially concealed", "#AA4499", (0, (1.4, 1.2))),
        ("concealed", "the paper's, concealed", "#D55E00", (0, (5, 1.6))),
    ),
)
LEARNERS = [learner for panel in PANELS for learner, *_ in panel]
GREY = "#6b6b6b"


@dataclass(frozen=True)
class Outcomes:
    """Delays of each ad's outcomes: binomial, with the means of the example."""

    random = True

    def sampler(self, random: np.random.Generator) -> Callable[..., NDArray[np.int64]]:
        def draw(span: Span, losses: NDArray[np.float64]) -> NDArray[np.int64]:
            return random.binomial(2 * DELAYS, 0.5, size=losses.shape)

        return draw


def shop(rounds: int = ROUNDS) -> Environment:
    """Return the shop of late_feedback.py, as an environment that draws a new game for each run."""
    losses = Bernoulli([float(1.0 - rate) for rate in SALES])
    return Environment("shop", losses, Outcomes(), rounds, ADS)


def shares(result: Comparison, learner: int) -> NDArray[np.float64]:
    """Return the sales so far of each run (row), as percentages of the best ad's sales."""
    visitors = result.checkpoints
    rows = [
        (visitors - trace.loss_at) / (visitors - sums.losses_at[:, sums.best_arm])
        for trace, sums in zip(result.traces[learner], result.game_sums, strict=True)
    ]
    return 100.0 * np.array(rows)


def late_feedback(path: Path, result: Comparison) -> None:
    """Draw the sales of each learner beside those of the best ad and of chance."""
    figure, axes = plt.subplots(1, 2, figsize=(7.6, 3.3), layout="constrained", sharey=True)
    for panel, learners, label in zip(axes, PANELS, LABELS, strict=True):
        draw_panel(panel, result, learners)
        panel.set_title(label, fontsize=10, loc="left")
    axes[0].set_ylabel("sales so far, % of the best ad's")
    figure.supxlabel("visitors so far", fontsize=10)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def draw_panel(
    axes: Axes, result: Comparison, learners: tuple[tuple[str, str, str, object], ...]
) -> None:
    """Draw the mean of each learner with a band that holds nine of ten runs."""
    rounds = result.checkpoints
    late = rounds >= FIRST
    for learner, name, colour, dashes in learners:
        rows = shares(result, result.labels.index(learner))[:, late]
        low, high = np.quantile(rows, [0.05, 0.95], axis=0)
        axes.fill_between(rounds[late], low, high, color=colour, alpha=0.2, linewidth=0.0)
        axes.plot(rounds[late], rows.mean(axis=0), color=colour, linestyle=dashes, label=name)
    chance = 100.0 * SALES.mean() / SALES.max()
    best = "always the best ad"
    for height, place, text in ((100.0, 101.5, best), (chance, chance - 5.0, "chance")):
        axes.axhline(height, color=GREY, linewidth=0.8)
        axes.text(rounds[-1], place, text, color=GREY, fontsize=8, ha="right")
    axes.set(xscale="log", xlim=(FIRST, rounds[-1]), ylim=(0, 112))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=False, fontsize=8.5)


if __name__ == "__main__":
    mpl.use("agg")
    mpl.rcParams["svg.hashsalt"] = "belated"
    late_feedback(
        IMAGES / "late-feedback.svg",
        belated.compare(LEARNERS, shop(), repetitions=RUNS, seed=SEED),
    )
