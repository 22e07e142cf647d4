"""The figures of the study: a cell for each learner and scenario, darker for less regret."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from numpy.typing import NDArray

from belated.comparison.table import Table
from belated.report.figure_parts import Drawing, add_headline
from belated.report.formatting import shorten
from belated.report.style import FAINT, INK, NOTE_SIZE, PAPER, with_figure_settings
from belated.report.text_fitting import MARGIN, cut_to_width, text_width, wrap_to_width
from studies.study import BEST_OF_EACH, standings

ROW, COLUMN, LABELS = 0.285, 0.42, 2.6  # inches
MOST_ROWS = 20  # learners; beside them only those that all others are compared with
ALWAYS = ("full-information", "partially-concealed", "concealed", "uniform")
SLANT, LONGEST = 55, 34  # the angle of the scenarios' names in degrees, and their most letters
LINE = 0.13  # inches for a line of the note below
GOOD, EVEN, BAD = "#0b5d6b", "#f4f4ef", "#c0562b"
SCALE = (
    "0: as good as the best arm; below 0: better than any single arm; 100: no better than chance; "
    "below each number half of its 95 % confidence interval, if that is at least 0.5"
)
CHANGING = "; *: all arms are equal in the end, and regret is against the best of each interval"
NAMES = {True: "experts", False: "bandits"}


@with_figure_settings
def study_figure(table: Table, experts: bool, title: str = "The study") -> Drawing:
    """Draw regret as a part of that of uniform play, with the best learner on average first.

    Of many learners only the best are drawn, the paper's, and uniform play.
    """
    every = standings(table, experts).column("learner")
    learners = [each for k, each in enumerate(every) if k < MOST_ROWS or each in ALWAYS]
    places = list(dict.fromkeys(table.column("scenario")))
    changing = {row["scenario"] for row in table if row["against"] == BEST_OF_EACH}
    shares, halves = _shares(table, learners, places)
    marked = [shorten(place, LONGEST) + " *" * (place in changing) for place in places]
    reach = 0.1 + max(text_width(name, NOTE_SIZE) for name in marked)
    head, margin = (
        0.5 + reach * math.sin(math.radians(SLANT)),
        reach * math.cos(math.radians(SLANT)),
    )
    wide = LABELS + COLUMN * len(places) + margin
    said = SCALE + CHANGING * bool(changing)
    if len(learners) < len(every):
        said += f"; the table has {len(every) - len(learners)} more learners"
    note = wrap_to_width(said, wide - 2.0 * MARGIN, NOTE_SIZE)
    foot = 0.17 + LINE * len(note.splitlines())
    high = head + ROW * len(learners) + foot + 0.05
    figure = Drawing(figsize=(wide, high), facecolor=PAPER)
    left, bottom = LABELS / wide, foot / high
    axes = figure.add_axes((left, bottom, 1.0 - left - margin / wide, ROW * len(learners) / high))
    colours = LinearSegmentedColormap.from_list("study", (GOOD, EVEN, BAD))
    axes.imshow(np.clip(shares, 0.0, 2.0), cmap=colours, vmin=0.0, vmax=2.0, aspect="auto")
    for row, column in np.ndindex(shares.shape):
        share, half = float(shares[row, column]), float(halves[row, column])
        colour = INK if 0.45 < share < 1.6 else PAPER
        texts = [(_percent(share), 0.0, 6.5)]
        if half >= 0.005:
            texts = [(_percent(share), -0.16, 6.5), (f"±{_percent(half)}", 0.27, 5.0)]
        for text, down, size in texts:
            axes.text(
                column, row + down, text, ha="center", va="center", fontsize=size, color=colour
            )
    names = [cut_to_width(name, LABELS - 2.0 * MARGIN, NOTE_SIZE) for name in learners]
    axes.set_yticks(range(len(learners)), names, fontsize=NOTE_SIZE)
    axes.set_xticks(range(len(places)), marked, fontsize=NOTE_SIZE, rotation=SLANT, ha="left")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    add_headline(figure, f"{title}, {NAMES[experts]}: regret in percent of uniform play", high)
    figure.text(MARGIN / wide, 0.08 / high, note, fontsize=NOTE_SIZE, color=FAINT)
    return figure


def _shares(
    table: Table, learners: Sequence[str], places: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the share of each learner (row) in each scenario, and half of its interval."""
    shares, halves = np.full((2, len(learners), len(places)), np.nan)
    for row in table:
        if row["learner"] in learners and row["of uniform"] is not None:
            place = learners.index(row["learner"]), places.index(row["scenario"])
            shares[place] = row["of uniform"]
            if row["regret"] and row.get("±") is not None:
                halves[place] = row["±"] * abs(row["of uniform"] / row["regret"])
    return shares, halves


def _percent(share: float) -> str:
    return "" if np.isnan(share) else str(round(100.0 * share))
