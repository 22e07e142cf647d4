"""Three figures of the values: all policies, in parts of the log, and over time at every look."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from belated.evaluation.betting import betting_sequence, known_from
from belated.evaluation.estimators import REPLAY
from belated.evaluation.result import Estimate, Findings, PolicyValue
from belated.report.figure_parts import (
    Drawing,
    add_legend,
    add_title,
    format_thousands,
    legend_label,
    new_figure,
)
from belated.report.style import (
    COLOURS,
    DASHES,
    FAINT,
    MARKERS,
    PAPER,
    SMALL_SIZE,
    Style,
    with_figure_settings,
)
from belated.report.text_fitting import cut_to_width

MOST_POLICIES = 6  # in one figure
PALE = "#dfe7ec"
NAME_WIDTH = 1.6  # inches
LOOKS = 60


class Styled(NamedTuple):
    """A policy and how it is drawn."""

    policy: PolicyValue
    style: Style


def styled(found: Findings) -> list[Styled]:
    """Return the log itself in grey and the first policies, each with its style."""
    shown = list(found.policies.values())[:MOST_POLICIES]
    styles = [
        Style(COLOURS[k % len(COLOURS)], DASHES[k % len(DASHES)], MARKERS[k % len(MARKERS)])
        for k in range(len(shown))
    ]
    logged = Styled(found.logged, Style(FAINT, (0, (1.0, 2.0)), "p"))
    return [logged, *(Styled(*each) for each in zip(shown, styles, strict=True))]


@with_figure_settings
def values(found: Findings) -> Drawing:
    """Draw each estimate with its interval over a pale bar from bound to bound."""
    lines = [
        (each, estimate) for each in styled(found) for estimate in each.policy.estimates.values()
    ]
    figure = new_figure(0.9 + 0.26 * len(lines))
    axes = figure.add_subplot()
    names = []
    for row, ((policy, style), estimate) in enumerate(lines):
        low, high = estimate.bounds
        axes.barh(row, high - low, height=0.62, left=low, color=PALE, zorder=1.5)
        if estimate.low is not None and estimate.high is not None:
            axes.plot([estimate.low, estimate.high], [row, row], color=style.colour, linewidth=1.6)
        if estimate.value is not None:
            axes.plot(
                estimate.value, row, style.marker, color=style.colour, markeredgecolor=PAPER,
                markersize=6.5, zorder=3.0,
            )  # fmt: skip
        own = policy.name if len(policy.estimates) == 1 else f"{policy.name}, {estimate.estimator}"
        names.append(cut_to_width(own, NAME_WIDTH, SMALL_SIZE))
    _draw_logged(axes, found, vertical=True)
    axes.set_yticks(range(len(lines)), names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set(ylim=(len(lines) - 0.4, -0.6), xlabel="reward per decision")
    axes.set_xlim(_limits([estimate for _, estimate in lines]))
    axes.grid(visible=True, axis="x")
    add_title(figure, found.journal.name, "value of each policy")
    return figure


def _limits(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """Return limits that show all intervals, and of the bounds what is near them."""
    bounds = np.array([each.bounds for each in estimates])
    ends = [end for each in estimates for end in (each.low, each.high) if end is not None]
    low, high = (min(ends), max(ends)) if ends else (float(bounds.min()), float(bounds.max()))
    least, most = min(low, float(bounds.min())), max(high, float(bounds.max()))
    room = high - low or 0.1 * abs(high) or 1.0
    edge = 0.04 * (min(most, high + room) - max(least, low - room) + room)
    return max(least, low - room) - edge, min(most, high + room) + edge


def _draw_logged(axes: Axes, found: Findings, vertical: bool) -> None:
    """Draw the value of the log itself as a line across."""
    value = found.logged.first.value
    if value is not None:
        draw = axes.axvline if vertical else axes.axhline
        draw(value, color=FAINT, linewidth=1.0, linestyle=(0, (1.0, 2.0)), zorder=2.0)


@with_figure_settings
def values_in_parts(found: Findings) -> Drawing | None:
    """Draw the value of each policy in each stratum or stretch of the log; None without any."""
    shown = [each for each in styled(found) if each.policy.parts]
    if not shown:
        return None
    labels = list(dict.fromkeys(part.label for each in shown for part in each.policy.parts))
    figure = new_figure(2.7)
    axes = figure.add_subplot()
    entries = []
    for k, (policy, style) in enumerate(shown):
        shift = 0.12 * (k - (len(shown) - 1) / 2.0)
        places = np.array([labels.index(part.label) + shift for part in policy.parts])
        middle = np.array([part.value for part in policy.parts])
        ends = np.array([[part.low, part.high] for part in policy.parts]).T
        axes.vlines(places, *ends, color=style.colour, linewidth=1.1, alpha=0.8)
        (line,) = axes.plot(
            places, middle, color=style.colour, marker=style.marker, markersize=4.5,
            linestyle=style.dashes if found.stratum is None else "none", linewidth=1.0,
            label=legend_label(policy.name),
        )  # fmt: skip
        entries.append(line)
    names = [cut_to_width(label, 0.9, SMALL_SIZE) for label in labels]
    axes.set_xticks(range(len(labels)), names if found.stratum else _numbers(labels))
    axes.set(
        xlabel="part of the log" if found.stratum is None else found.stratum,
        ylabel="reward per decision",
    )
    axes.grid(visible=True, axis="y")
    what = "over the log" if found.stratum is None else f"by {found.stratum}"
    add_title(figure, found.journal.name, f"value {what}")
    add_legend(axes, entries)
    return figure


def _numbers(labels: list[str]) -> list[str]:
    return [label.split()[0] for label in labels]


@with_figure_settings
def confidence_sequences(found: Findings) -> Drawing | None:
    """Draw the intervals by betting that hold at every look; None if rows do not count equally."""
    journal, units = found.journal, found.journal.units
    if not journal.is_even:
        return None
    looks = np.unique(np.geomspace(10, max(len(journal), 11), LOOKS).astype(np.int64))
    looks = looks[looks <= len(journal)]
    first = known_from(journal.played, journal.delays)
    figure = new_figure(2.7)
    axes = figure.add_subplot()
    entries = []
    for policy, style in styled(found):
        if REPLAY in policy.estimates or policy.weights is None:
            continue
        ends = betting_sequence(policy.weights, journal.rewards, first, looks, found.level)
        low, high = (units.low + units.width * end for end in ends)
        axes.fill_between(looks, low, high, color=style.colour, alpha=0.06, linewidth=0.0)
        for end in (low, high):
            (line,) = axes.plot(
                looks, end, color=style.colour, linestyle=style.dashes, linewidth=1.2,
                label=legend_label(policy.name),
            )  # fmt: skip
        entries.append(line)
    _draw_logged(axes, found, vertical=False)
    axes.set(ylim=(units.low, units.high), xlim=(0, len(journal)))
    axes.set(xlabel="rows", ylabel="reward per decision")
    format_thousands(axes.xaxis)
    axes.grid(visible=True, axis="y")
    add_title(figure, journal.name, "intervals valid at every look")
    add_legend(axes, entries)
    return figure
