"""The figure of a benchmark: all ratios on two logarithmic axes, goals as ticks beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from belated.comparison.table import check_writable
from belated.report.figure_parts import Drawing
from belated.report.style import (
    FAINT,
    INK,
    NOTE_SIZE,
    PAPER,
    SMALL_SIZE,
    shades,
    with_figure_settings,
)
from belated.report.text_fitting import MARGIN, text_width, wrap_to_width
from benchmarks.bench import Bench
from benchmarks.formatting import digits
from benchmarks.measure import TIMES, Measured, Result

FASTER = (4, 5, 6, 8)
COST = (1, 2, 3, 9, 10)
SUFFIXES = (".svg", ".png", ".pdf")
MARKERS = ("o", "s", "^", "D", "v", "P")
ROW = 0.21  # inches for a row
WIDTH = 7.4
SIGN = 0.5  # inches for a sign of the legend and the spaces beside it
EXP3 = "a round of Exp3 in the same engine"
HEADINGS = {
    1: EXP3,
    2: EXP3,
    3: EXP3,
    4: "the argmin by a generic solver (4)",
    5: "a decision and its lesson, in Python (5)",
    6: "a step of experts (6)",
    8: "ask + tell without grouping (8)",
    9: "a round with 10 losses pending (9)",
    10: "import numpy (10)",
}


@dataclass(frozen=True)
class Row:
    """A line of a panel: a heading, or the results of one rival by the number of arms."""

    label: str
    results: Sequence[Result] = ()


def check_figure(path: Path) -> None:
    """Raise an error if the figure cannot be drawn into this file, before anything is measured."""
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"{path.name} is no picture; it must end in .svg, .png or .pdf")
    check_writable(path)


@with_figure_settings
def save_figure(bench: Bench, path: Path) -> None:
    """Draw a benchmark into a file."""
    metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
    figure(bench).savefig(path, metadata=metadata)


@with_figure_settings
def figure(bench: Bench) -> Drawing:
    """Draw two panels: how much faster than others we are, and our cost beside simpler code."""
    panels = [
        ("times faster than", rows_of(bench, FASTER), True),
        ("times the cost of", rows_of(bench, COST), False),
    ]
    panels = [panel for panel in panels if panel[1]]
    if not panels:
        raise ValueError("none of these measures is a ratio; there is nothing to draw")
    heights = [len(rows) + 1.6 for _, rows, _ in panels]
    size = (WIDTH, ROW * sum(heights) + 1.0)
    drawing = Drawing(figsize=size, layout="constrained", facecolor=PAPER)
    grid = drawing.add_gridspec(len(panels), 1, height_ratios=heights)
    styles = styles_of([rows for _, rows, _ in panels])
    for place, (title, rows, faster) in enumerate(panels):
        draw_panel(drawing.add_subplot(grid[place]), title, rows, faster, styles)
    drawing.suptitle("belated beside its peers", x=0.012, ha="left", fontweight="bold")
    draw_legend(drawing, bench, legend_of(styles))
    return drawing


def draw_legend(drawing: Drawing, bench: Bench, entries: Sequence[Line2D]) -> None:
    """Write below the panels the machine that was used, and what the signs mean."""
    quick = ", QUICK: not for quoting" if bench.effort.quick else ""
    note = f"{bench.machine['cpu']}, Python {bench.machine['python']}{quick}"
    longest = max(text_width(str(each.get_label()), SMALL_SIZE) for each in entries)
    legend = drawing.legend(
        handles=entries,
        loc="outside lower left",
        ncols=max(1, min(5, int((WIDTH - 2.0 * MARGIN) / (longest + SIGN)))),
        handletextpad=0.4,
        title=wrap_to_width(note, WIDTH - 4.0 * MARGIN, NOTE_SIZE),
        title_fontproperties={"size": NOTE_SIZE},
        alignment="left",
    )
    legend.get_title().set_color(FAINT)


def rows_of(bench: Bench, numbers: Sequence[int]) -> list[Row]:
    """Make a heading for each kind of rival, followed by a row for each rival."""
    found: dict[str, dict[str, list[Result]]] = {}
    for measured in bench.measured:
        number = measured.measure.number
        for result in measured.results:
            if number in numbers and result.unit == TIMES:
                below = found.setdefault(HEADINGS[number], {})
                below.setdefault(label_of(measured, result), []).append(result)
    rows = []
    for heading, below in found.items():
        rows += [Row(heading), *(Row(label, results) for label, results in below.items())]
    return rows


def label_of(measured: Measured, result: Result) -> str:
    """Return the name of the rival or, in measures with a single rival, of our own learner."""
    number = measured.measure.number
    return f"{measured.measure.title} ({number})" if number in (1, 2, 3) else result.what


def styles_of(panels: Sequence[Sequence[Row]]) -> dict[int | None, tuple[str, Any]]:
    """Choose a marker and a shade for each number of arms; None is a result without arms."""
    found = {each.arms for rows in panels for row in rows for each in row.results}
    arms = sorted(number for number in found if number is not None)
    colours = shades(len(arms) + 1, ("#9fd0c7", "#3f97ac", "#1f6a8c", "#0b3c5d"))
    known: dict[int | None, tuple[str, Any]] = {
        number: (MARKERS[k % len(MARKERS)], colours[k]) for k, number in enumerate(arms)
    }
    return {**known, None: ("X", "#D55E00")} if None in found else known


def draw_panel(
    axes: Axes,
    title: str,
    rows: Sequence[Row],
    faster: bool,
    styles: dict[int | None, tuple[str, Any]],
) -> None:
    """Draw the rows of a panel; full markers are goals met, hollow ones are goals missed."""
    axes.set_xscale("log")
    axes.axvline(1.0, color=FAINT, linewidth=0.9, zorder=1)
    for height, row in enumerate(rows):
        if row.results:
            axes.axhline(height, color="#eeeeea", linewidth=0.6, zorder=0)
        for result in row.results:
            draw_result(axes, height, result, styles[result.arms])
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    for label, row in zip(axes.get_yticklabels(), rows, strict=True):
        label.set(color=INK if row.results else FAINT, style="normal" if row.results else "italic")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(visible=True, axis="x")
    axes.xaxis.set_major_locator(LogLocator(10.0, subs=(1.0,) if faster else (1.0, 2.0, 5.0)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: digits(value))
    axes.set_title(
        f"{title} ...   {'further right' if faster else 'further left'} is better",
        fontweight="bold",
    )


def draw_result(axes: Axes, height: float, result: Result, style: tuple[str, Any]) -> None:
    """Draw the median with its quartiles, and the goal as an upright tick."""
    marker, colour = style
    value = result.value
    axes.plot([value.low, value.high], [height, height], color=colour, linewidth=2.2, zorder=2)
    axes.plot(
        value.median, height, marker,
        color=colour, markerfacecolor=PAPER if result.met is False else colour,
        markersize=6.0, markeredgewidth=1.3, zorder=3,
    )  # fmt: skip
    if result.goal is not None and result.goal.limit != 1.0:
        limits = [height - 0.38, height + 0.38]
        axes.plot([result.goal.limit] * 2, limits, color=colour, linewidth=1.6, zorder=2)


def legend_of(styles: dict[int | None, tuple[str, Any]]) -> list[Line2D]:
    """Make the entries of the legend, which explain markers and ticks."""
    entries = [
        Line2D([], [], color=colour, marker=marker, linestyle="none",
               label="new process" if arms is None else f"K = {arms:,}")
        for arms, (marker, colour) in styles.items()
    ]  # fmt: skip
    entries.append(
        Line2D([], [], color=INK, marker="|", markersize=9, linestyle="none", label="goal")
    )
    entries.append(
        Line2D([], [], color=INK, marker="o", markerfacecolor=PAPER, linestyle="none",
               label="goal missed")
    )  # fmt: skip
    return entries
