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

ROW, COLUMN, LABELS = 0.205, 0.42, 3.0  # inches
SLANT, LONGEST = 55, 34  # the angle of the scenarios' names in degrees, and their most letters
LINE = 0.13  # inches for a line of the note below
GOOD, EVEN, BAD = "#0b5d6b", "#f4f4ef", "#c0562b"
SCALE = "0: as good as the best arm; below 0: better than any arm; 100: no better than chance"
CHANGING = "; *: chance is as good as any arm, and 0 stands for the best of each stretch"
NAMES = {True: "experts", False: "bandits"}


@with_figure_settings
def study_figure(table: Table, experts: bool, title: str = "The study") -> Drawing:
    """Draw regret as a part of that of uniform play, with the best learner on average first."""
    learners = standings(table, experts).column("learner")
    places = list(dict.fromkeys(table.column("scenario")))
    changing = {row["scenario"] for row in table if row["against"] == BEST_OF_EACH}
    shares = _shares(table, learners, places)
    marked = [shorten(place, LONGEST) + " *" * (place in changing) for place in places]
    reach = 0.1 + max(text_width(name, NOTE_SIZE) for name in marked)
    head, margin = (
        0.5 + reach * math.sin(math.radians(SLANT)),
        reach * math.cos(math.radians(SLANT)),
    )
    wide = LABELS + COLUMN * len(places) + margin
    note = wrap_to_width(SCALE + (CHANGING if changing else ""), wide - 2.0 * MARGIN, NOTE_SIZE)
    foot = 0.17 + LINE * len(note.splitlines())
    high = head + ROW * len(learners) + foot + 0.05
    figure = Drawing(figsize=(wide, high), facecolor=PAPER)
    left, bottom = LABELS / wide, foot / high
    axes = figure.add_axes((left, bottom, 1.0 - left - margin / wide, ROW * len(learners) / high))
    colours = LinearSegmentedColormap.from_list("study", (GOOD, EVEN, BAD))
    axes.imshow(np.clip(shares, 0.0, 2.0), cmap=colours, vmin=0.0, vmax=2.0, aspect="auto")
    for row, column in np.ndindex(shares.shape):
        share = float(shares[row, column])
        light = 0.45 < share < 1.6
        axes.text(
            column,
            row,
            _percent(share),
            ha="center",
            va="center",
            fontsize=6.0,
            color=INK if light else PAPER,
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


def _shares(table: Table, learners: Sequence[str], places: Sequence[str]) -> NDArray[np.float64]:
    shares = np.full((len(learners), len(places)), np.nan)
    for row in table:
        if row["learner"] in learners and row["of uniform"] is not None:
            place = learners.index(row["learner"]), places.index(row["scenario"])
            shares[place] = row["of uniform"]
    return shares


def _percent(share: float) -> str:
    return "" if np.isnan(share) else str(round(100.0 * share))
