"""What the figures have in common: an empty figure, its title, its legend and its axes."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

from belated.report.formatting import number
from belated.report.style import FIGURE_WIDTH, PAPER, SMALL_SIZE, TITLE_SIZE
from belated.report.svg import svg_text
from belated.report.text_fitting import (
    MARGIN,
    POINTS_PER_INCH,
    cut_to_width,
    figure_of,
    text_width,
)

MAX_NAME_LETTERS = 34  # of a name in a legend
LEGEND_LINE = 0.18  # inches: the height of one line of a legend
LEGEND_HANDLE, LEGEND_PAD, LEGEND_GAP = 3.4, 0.8, 2.0  # widths, as multiples of the font size


class Drawing(Figure):
    """A matplotlib figure that a notebook displays as SVG, with or without pyplot."""

    def _repr_svg_(self) -> str:
        return svg_text(self)


def new_figure(height: float) -> Drawing:
    """Create an empty figure of the standard width and a height in inches."""
    return Drawing(figsize=(FIGURE_WIDTH, height), layout="constrained", facecolor=PAPER)


def add_title(figure: Figure, name: str, what: str) -> None:
    """Write the title "name: what" at the upper left, with the name cut to the available width."""
    room = _inner_width(figure) - text_width(f": {what}", TITLE_SIZE, "bold")
    text = f"{cut_to_width(name, room, TITLE_SIZE, 'bold')}: {what}"
    figure.suptitle(text, x=0.012, ha="left", fontsize=TITLE_SIZE, fontweight="bold")


def add_headline(figure: Drawing, text: str, high: float) -> None:
    """Write a title at the upper left of a figure of height `high` without a layout engine."""
    text = cut_to_width(text, _inner_width(figure), TITLE_SIZE, "bold")
    top = 1.0 - 0.06 / high
    figure.suptitle(
        text, x=0.012, y=top, ha="left", va="top", fontsize=TITLE_SIZE, fontweight="bold"
    )


def _inner_width(figure: Figure) -> float:
    """Return the width in inches between the left and the right margin of a figure."""
    return float(figure.get_size_inches()[0]) - 2.0 * MARGIN


def format_thousands(axis: Axis) -> None:
    """Write the numbers of an axis with commas between the thousands."""
    axis.set_major_formatter(lambda value, _: number(value))


def set_delay_scale(axes: Axes, largest: float) -> None:
    """Give delays or counts of missing losses the scale log(1 + x), from 0 to past `largest`.

    The scale is almost linear near zero and logarithmic beyond, so that both 0 and 10,000 fit.
    """
    axes.set_xscale("function", functions=(np.log1p, np.expm1))
    limit = 1.35 * max(largest, 1.0)
    decades = 10.0 ** np.arange(math.floor(math.log10(limit)) + 1)
    ticks = np.sort(np.r_[decades, 3.0 * decades]) if decades.size < 4 else decades
    ticks = ticks[:: 1 + ticks.size // 9]
    axes.set_xticks([0.0, *ticks[ticks <= limit]])
    axes.set_xticks([], minor=True)
    axes.set_xlim(-0.13, limit)
    format_thousands(axes.xaxis)


def legend_label(label: str, most: int = MAX_NAME_LETTERS) -> str:
    """Cut a label to the width of a legend and to `most` letters.

    Matplotlib leaves labels that begin with an underscore out of a legend, so these get a space in
    front.
    """
    room = FIGURE_WIDTH - _legend_entry_extra() - 2.0 * MARGIN
    text = cut_to_width(label, room, SMALL_SIZE, most=most)
    return f" {text}" if text.startswith("_") else text


def add_legend(axes: Axes, entries: Sequence[Any]) -> None:
    """Put a legend below the figure of these axes and make the figure higher by its height.

    The legend has two columns if the longest label fits into one of them, else one.
    """
    longest = max(text_width(each.get_label(), SMALL_SIZE) for each in entries)
    figure = figure_of(axes)
    columns = 2 if 2.0 * (longest + _legend_entry_extra()) <= _inner_width(figure) else 1
    figure.set_figheight(figure.get_figheight() + LEGEND_LINE * -(-len(entries) // columns))
    figure.legend(
        handles=entries,
        loc="outside lower left",
        ncols=columns,
        handlelength=LEGEND_HANDLE,
        handletextpad=LEGEND_PAD,
        columnspacing=LEGEND_GAP,
    )


def _legend_entry_extra() -> float:
    """Return the width in inches of a legend's entry without its text: the handle and the gaps."""
    return (LEGEND_HANDLE + LEGEND_PAD + LEGEND_GAP) * SMALL_SIZE / POINTS_PER_INCH
