"""Two theorems of the paper are false: play the games that break them, and measure by how much.

`python -m examples.counterexamples` takes a few minutes; with --quick, games too short to break
anything, which show the same in seconds. docs/experiments.md explains what is to be seen.
"""

import argparse
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

import belated
from belated.analysis.theorems import concealed
from belated.arrays import Floats
from belated.types import VARIANTS, Variant
from examples.late_silence import LateSilenceGame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ARMS, ROUNDS, REPETITIONS, SEED = 2000, 300_000, 2, 1
SHOWN = (21_000, 60_000, 120_000, 180_000, 240_000, 300_000)
FAMILY = (
    LateSilenceGame(kappa=100.0, first=10**7, second=10**6, most=256),
    LateSilenceGame(kappa=100.0, first=10**8, second=2 * 10**6, most=256),
    LateSilenceGame(kappa=100.0, first=3 * 10**8, second=3 * 10**6, most=256),
    LateSilenceGame(kappa=200.0, first=3 * 10**8, second=4 * 10**6, most=256),
    LateSilenceGame(kappa=300.0, first=10**9, second=10**7, most=256),
)
QUICK_ARMS, QUICK_ROUNDS = 500, 20_000
QUICK_FAMILY = (
    LateSilenceGame(kappa=100.0, first=10**5, second=10**5, most=64),
    LateSilenceGame(kappa=300.0, first=10**6, second=2 * 10**5, most=64),
)

NAMES: dict[Variant, str] = {"paper": "as in the paper", "repaired": "repaired"}
LINES: dict[Variant, tuple[str, str]] = {"paper": ("-", "0.0"), "repaired": ("--", "0.4")}
BARS: dict[Variant, tuple[str, str]] = {"paper": ("0.25", ""), "repaired": ("1.0", "////")}


class ManyArms(NamedTuple):
    """The results for E2: each variant's mean regret over time, and the bound th:concealed."""

    arms: int
    rounds: NDArray[np.int64]
    regret: dict[Variant, Floats]
    bound: Floats


class LateSilences(NamedTuple):
    """The results for E1: each variant's regret in each game, and the bound th:fullinfobound."""

    games: tuple[LateSilenceGame, ...]
    regret: dict[Variant, list[float]]
    bound: list[float]


def many_arms(arms: int, rounds: int, progress: Callable[[int, int], None]) -> ManyArms:
    """Play a game in which one arm never loses and all others always do, without delays.

    One run gives the regret after every number of rounds, since the learner needs no horizon.
    """
    comparison = belated.compare(
        [f"concealed:variant={variant}" for variant in VARIANTS],
        belated.scenario("many-arms", arms=arms, rounds=rounds),
        repetitions=REPETITIONS,
        seed=SEED,
        progress=progress,
    )
    over_time = {v: comparison.regret_over_time(k).mean for k, v in enumerate(VARIANTS)}
    bound = [concealed(arms, int(t), 0, 0.0) for t in comparison.checkpoints]
    return ManyArms(arms, comparison.checkpoints, over_time, np.array(bound))


def late_silences(
    games: tuple[LateSilenceGame, ...], progress: Callable[[int], None]
) -> LateSilences:
    """Play every game of the family with every variant on all cores, the longest game first."""
    jobs = sorted(((g, v) for g in games for v in VARIANTS), key=lambda job: -job[0].second)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = dict(
            zip(jobs, pool.map(lambda job: job[0].play(job[1], progress), jobs), strict=True)
        )
    regret = {v: [runs[game, v].regret for game in games] for v in VARIANTS}
    return LateSilences(games, regret, [game.bound("paper") for game in games])


def show(title: str, sizes: Sequence[str], rows: Sequence[tuple[Sequence[str], Floats]]) -> None:
    """Print a table: the size of each game, each variant's regret with its ratio, and the bound."""
    table = Table(title=title)
    regrets = [column for variant in VARIANTS for column in (variant, "ratio")]
    for column in (*sizes, *regrets, "bound"):
        table.add_column(column, justify="right", no_wrap=True)
    for size, (*regret, bound) in rows:
        cells = [cell for each in regret for cell in (f"{each:,.0f}", f"{each / bound:.4f}")]
        table.add_row(*size, *cells, f"{bound:,.0f}")
    Console().print(table)


def show_many_arms(result: ManyArms) -> None:
    """Print some of the rounds as a table."""
    shown = [t for t in SHOWN if t < result.rounds[-1]] + [int(result.rounds[-1])]
    numbers = np.array([*(result.regret[v] for v in VARIANTS), result.bound])
    rows = [
        ([f"{result.rounds[k]:,}"], numbers[:, k]) for k in np.searchsorted(result.rounds, shown)
    ]
    show(f"E2, Theorem 3: regret with {result.arms} arms, nothing late", ["T"], rows)


def show_late_silences(result: LateSilences) -> None:
    """Print a table with a row for each game."""
    numbers = np.array([*(result.regret[v] for v in VARIANTS), result.bound])
    rows = [
        ([f"{game.kappa:.0f}", power(game.first), power(game.second)], numbers[:, k])
        for k, game in enumerate(result.games)
    ]
    title = f"E1, Theorem 1: regret with late silence, M = {result.games[0].most}"
    show(title, ["kappa", "T1", "T2"], rows)


def power(number: int) -> str:
    """Format a number by a power of ten, such as 3e8 for 300,000,000."""
    return f"{number:.0e}".replace("e+0", "e")


def draw_many_arms(axes: "Axes", result: ManyArms) -> None:
    """Draw the results for E2 as lines over the rounds."""
    for variant in VARIANTS:
        ratio = result.regret[variant] / result.bound
        style, shade = LINES[variant]
        axes.plot(result.rounds, ratio, style, color=shade, linewidth=1.8)
        end = (float(result.rounds[-1]), float(ratio[-1]))
        axes.annotate(NAMES[variant], end, (0, 6), textcoords="offset points", ha="right")
    axes.set(xlabel="rounds T", ylabel="regret / bound of the theorem")
    axes.set_xlim(0, result.rounds[-1])
    axes.locator_params(axis="x", nbins=4)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_title(f"Theorem 3, {result.arms} arms (E2)", fontsize=10)
    axes.text(0.02 * result.rounds[-1], 1.02, "above this line the theorem is broken", fontsize=8)


def draw_late_silences(axes: "Axes", result: LateSilences) -> None:
    """Draw the results for E1 as a pair of bars for each game."""
    place, width = np.arange(len(result.games)), 0.4
    for variant, shift in zip(VARIANTS, (-width / 2, width / 2), strict=True):
        ratio = [r / b for r, b in zip(result.regret[variant], result.bound, strict=True)]
        fill, hatch = BARS[variant]
        bars = axes.bar(place + shift, ratio, width, color=fill, edgecolor="0.0", hatch=hatch)
        bars.set_label(NAMES[variant])
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        axes.bar_label(bars, [f"{value:.2f}" for value in ratio], fontsize=8, padding=2, bbox=box)
    labels = [f"κ = {game.kappa:.0f}\nT1 = {power(game.first)}" for game in result.games]
    axes.set_xticks(place, labels, fontsize=8)
    axes.set_title("Theorem 1, late silence (E1)", fontsize=10)
    axes.legend(frameon=False, loc="upper left")


def draw(arms: ManyArms, silences: LateSilences, path: Path) -> None:
    """Draw regret divided by bound; a value above one contradicts the theorem."""
    import matplotlib as mpl

    mpl.use("agg")
    mpl.rcParams["svg.hashsalt"] = "belated"
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(9.2, 3.7), layout="constrained", sharey=True)
    draw_many_arms(panels[0], arms)
    draw_late_silences(panels[1], silences)
    for axes in panels:
        axes.axhline(1.0, color="0.0", linewidth=0.9, linestyle=":", zorder=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylim(0.0, 1.55)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short games that break nothing")
    parser.add_argument("--figure", type=Path, help="where to draw the figure (.svg, .png, .pdf)")
    options = parser.parse_args()
    arms, rounds = (QUICK_ARMS, QUICK_ROUNDS) if options.quick else (ARMS, ROUNDS)
    games = QUICK_FAMILY if options.quick else FAMILY
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), "left:"
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        first = progress.add_task("E2, many arms", total=None)
        crowd = many_arms(
            arms, rounds, lambda done, total: progress.update(first, completed=done, total=total)
        )
        total = len(VARIANTS) * sum(game.second for game in games)
        second = progress.add_task("E1, late silence", total=total)
        silences = late_silences(games, lambda rounds: progress.advance(second, rounds))
    show_many_arms(crowd)
    highest = (crowd.regret["repaired"] / crowd.bound).max()
    print(f"The largest ratio of the repaired learner was {highest:.4f}.")
    show_late_silences(silences)
    if options.figure:
        draw(crowd, silences, options.figure)
        print(f"Figure: {options.figure}")


if __name__ == "__main__":
    main()
