"""The ablation figure: the regret of a learner without each of its parts."""

from typing import NamedTuple

import numpy as np

from belated.comparison.table import Table
from belated.report.figure_parts import Drawing, add_headline
from belated.report.style import (
    COLOURS,
    FAINT,
    INK,
    PAPER,
    SMALL_SIZE,
    TEXT_SIZE,
    with_figure_settings,
)
from belated.report.text_fitting import MARGIN, cut_to_width, text_width, wrap_to_width

WIDE, ROW, HEAD, FOOT, RIGHT = 6.4, 0.3, 0.5, 0.6, 0.55  # inches
LABELS, LINE = 3.0, 0.14  # inches: the limit for the names of parts, and a line of text
MORE = "more regret than with all parts, in percent of uniform play's; a dot a scenario"
NAMES = {
    "imputes=0": "what is missing stands at 0",
    "bold=1": "AdaHedge's rate",
    "tracks=0": "no tracker that forgets",
}


class PartCost(NamedTuple):
    """A changed part, and the regret that the change adds in each scenario."""

    changed: str
    costs: list[float]

    @property
    def mean(self) -> float:
        """The mean over all scenarios."""
        return float(np.mean(self.costs))


def parts_of(table: Table) -> dict[str, list[PartCost]]:
    """Return the costs in percent of leaving out each part of each learner, largest first."""
    whole = {
        (row["learner"], row["scenario"]): row["of uniform"] for row in table if not row["changed"]
    }
    costs: dict[str, dict[str, list[float]]] = {}
    for row in table:
        if row["changed"] and row["of uniform"] is not None:
            name = row["learner"].removesuffix(f", {row['changed']}")
            cost = row["of uniform"] - whole[name, row["scenario"]]
            costs.setdefault(name, {}).setdefault(row["changed"], []).append(100.0 * cost)
    return {
        name: sorted((PartCost(*each) for each in parts.items()), key=lambda part: -part.mean)
        for name, parts in costs.items()
    }


@with_figure_settings
def parts_figure(learner: str, parts: list[PartCost]) -> Drawing:
    """Draw a dot for each scenario and a bar for their mean; to the right, the part is useful."""
    names = [
        cut_to_width(NAMES.get(each.changed, each.changed), LABELS, SMALL_SIZE) for each in parts
    ]
    left = max(text_width(name, SMALL_SIZE) for name in names) + 0.15
    wide = WIDE - left - RIGHT
    label = wrap_to_width(MORE, WIDE - 2.0 * MARGIN, TEXT_SIZE)
    foot = FOOT + LINE * label.count("\n")
    high = HEAD + ROW * len(parts) + foot
    figure = Drawing(figsize=(WIDE, high), facecolor=PAPER)
    axes = figure.add_axes((left / WIDE, foot / high, wide / WIDE, ROW * len(parts) / high))
    axes.axvline(0.0, color=FAINT, linewidth=0.7)
    for row, part in enumerate(parts):
        axes.barh(row, part.mean, height=0.5, color=COLOURS[0], alpha=0.35, linewidth=0)
        axes.plot(
            part.costs, [row] * len(part.costs), "o", color=COLOURS[0], alpha=0.6, ms=3.5,
            clip_on=False,
        )  # fmt: skip
        axes.annotate(
            signed(part.mean), (1.0, row), xycoords=("axes fraction", "data"), xytext=(28, 0),
            textcoords="offset points", ha="right", va="center", color=INK, fontsize=SMALL_SIZE,
        )  # fmt: skip
    axes.set_yticks(range(len(parts)), names)
    axes.set_ylim(len(parts) - 0.5, -0.5)
    axes.set_xscale("symlog", linthresh=10.0)
    ticks = (-100, -10, 0, 10, 100)
    axes.set_xticks(ticks, [signed(tick) for tick in ticks])
    axes.tick_params(length=0)
    for name in ("top", "right", "left"):
        axes.spines[name].set_visible(False)
    axes.set_xlabel(label, loc="right")
    axes.xaxis.label.set_x((wide + RIGHT - MARGIN) / wide)
    add_headline(figure, f"What each part of {learner} brings", high)
    return figure


def signed(percent: float) -> str:
    """Return a whole number with its sign; 0 has none."""
    return f"{percent:+.0f}" if round(percent) else "0"
