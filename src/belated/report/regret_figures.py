"""Two figures: regret over time, and regret after the last round."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from belated.analysis.bounds import Bound
from belated.analysis.statistics import estimate
from belated.arrays import Floats
from belated.comparison.result import Comparison
from belated.report.figure_parts import (
    MAX_NAME_LETTERS,
    Drawing,
    add_legend,
    add_title,
    format_thousands,
    legend_label,
    new_figure,
)
from belated.report.formatting import DAGGER_NOTE, EN_DASH, any_unproven, bound_text, plus_minus
from belated.report.style import (
    BOUND_DASHES,
    FAINT,
    FIGURE_WIDTH,
    NOTE_SIZE,
    PAPER,
    SMALL_SIZE,
    TEXT_BACKGROUND,
    TEXT_SIZE,
    Style,
    learner_styles,
    with_figure_settings,
)
from belated.report.text_fitting import (
    MARGIN,
    axes_size,
    cut_to_width,
    lay_out,
    text_width,
    width_to_edge,
    wrap_to_width,
)

NEAR_FACTOR = 1.5  # bounds up to this multiple of the largest regret are drawn as lines
BOUND_SIGN = f"{EN_DASH} · {EN_DASH}"  # a dash-dotted line, as text
MOST_NOTES = 4  # bounds listed above the plot
NOTE_LINE = 0.13  # inches: the height of one line of these notes
NAME_GAP = 0.15  # inches between a name and a number on the same line
MIN_SCALE = 1e-3  # the regret axis reaches at least this far


@with_figure_settings
def regret_over_time(comparison: Comparison) -> Drawing:
    """Draw the mean regret against the arm that is best so far, with 95 % bands.

    The bounds on the final regret are lines if they are near, and notes above the plot.
    """
    figure = new_figure(3.1)
    axes = figure.add_subplot()
    entries = []
    for k, style in enumerate(learner_styles(comparison)):
        curve = comparison.regret_over_time(k)
        rounds = np.r_[0, comparison.checkpoints]
        mean, width = np.r_[0.0, curve.mean], np.r_[0.0, np.nan_to_num(curve.half_width)]
        label = legend_label(comparison.labels[k])
        line = _draw_mean(axes, rounds, mean, style, label)
        axes.fill_between(
            rounds, mean - width, mean + width, color=style.colour, alpha=0.18, linewidth=0.0
        )
        entries.append((float(mean[-1]), line))
    axes.axhline(0.0, color=FAINT, linewidth=0.7, zorder=1)
    axes.grid(visible=True)
    axes.set(xlabel="rounds", ylabel="regret", xlim=(0, comparison.environment.rounds))
    axes.locator_params(axis="x", integer=True)
    format_thousands(axes.xaxis)
    format_thousands(axes.yaxis)
    bounds = _draw_bounds(axes, comparison)
    add_title(figure, comparison.environment.name, "regret over time")
    entries.sort(key=lambda entry: -entry[0])
    add_legend(axes, [line for _, line in entries])
    _write_bound_notes(figure, axes, comparison, bounds)
    return figure


def _draw_mean(axes: Axes, rounds: Any, mean: Floats, style: Style, label: str) -> Line2D:
    every = max(1, len(rounds) // 6)
    (line,) = axes.plot(
        rounds,
        mean,
        color=style.colour,
        linestyle=style.dashes,
        marker=style.marker,
        markevery=(every if len(rounds) > 2 else 1, every),
        clip_on=False,
        label=label,
    )
    return line


def _draw_bounds(axes: Axes, comparison: Comparison) -> list[tuple[int, str, Bound]]:
    """Draw proven bounds near the regrets as lines, and set the limits of the regret axis.

    Returns all finite bounds as (contender, sign, bound); the sign says whether a bound is a line,
    above the plot, or neither.
    """
    low, top = axes.dataLim.intervaly
    top = max(top, MIN_SCALE)
    limit = NEAR_FACTOR * top
    found = []
    for k, (bound, style) in enumerate(
        zip(_bounds_of(comparison), learner_styles(comparison), strict=True)
    ):
        if bound.value is None or not np.isfinite(bound.value):
            continue
        sign = "↑ " if bound.value > limit else ""
        if bound.applies and bound.value <= limit:
            sign, top = f"{BOUND_SIGN} ", max(top, bound.value)
            axes.axhline(bound.value, color=style.colour, linestyle=BOUND_DASHES, linewidth=1.1)
        found.append((k, sign, bound))
    axes.set_ylim(1.06 * min(low, 0.0), 1.06 * top)
    return found


def _write_bound_notes(
    figure: Drawing, axes: Axes, comparison: Comparison, bounds: Sequence[tuple[int, str, Bound]]
) -> None:
    """Write the bounds above the plot, and make the figure higher by their height.

    This is done twice: the notes move the plot a little, which changes the width they have.
    """
    height = figure.get_figheight()
    for _ in range(2 if bounds else 0):
        lay_out(figure)
        notes = _bound_notes(comparison, bounds, width_to_edge(axes))
        axes.set_title("\n".join(notes), fontsize=NOTE_SIZE, color=FAINT)
        figure.set_figheight(height + NOTE_LINE * len(notes))


def _bound_notes(
    comparison: Comparison, bounds: Sequence[tuple[int, str, Bound]], room: float
) -> list[str]:
    """Return the notes about bounds as lines that are at most `room` inches wide."""
    doubt = f"; {DAGGER_NOTE}" if any_unproven(bound for _, _, bound in bounds) else ""
    head = f"Bounds on the regret at the end (↑ beyond this plot{doubt})"
    notes = wrap_to_width(head, room, NOTE_SIZE).splitlines()
    for k, sign, bound in bounds[:MOST_NOTES]:
        value = f": {bound_text(bound)} ({bound.label})"
        name = cut_to_width(
            comparison.labels[k],
            room - text_width(sign + value, NOTE_SIZE),
            NOTE_SIZE,
            most=MAX_NAME_LETTERS,
        )
        notes.append(f"{sign}{name}{value}")
    more = len(bounds) - MOST_NOTES
    return [*notes, f"and {more} more"] if more > 0 else notes


def _bounds_of(comparison: Comparison) -> list[Bound]:
    return [comparison.bound(k) for k in range(len(comparison.contenders))]


@with_figure_settings
def final_regret(comparison: Comparison) -> Drawing:
    """Draw each learner's final regrets, their mean with its 95 % interval, and the bound.

    Learners are in the order of their mean regret, the lowest first.
    """
    count = len(comparison.contenders)
    figure = new_figure(0.9 + 0.48 * count)
    axes = figure.add_subplot()
    drawn = learner_styles(comparison)
    bounds = _bounds_of(comparison)
    regrets = [comparison.regret(k) for k in range(count)]
    order = sorted(range(count), key=lambda k: float(regrets[k].mean()))
    for row, k in enumerate(order):
        _draw_regrets(axes, row, regrets[k], drawn[k])
    axes.axvline(0.0, color=FAINT, linewidth=0.7, zorder=1)
    _set_regret_limits(axes, bounds)
    doubt = f" (bounds: {DAGGER_NOTE})" if any_unproven(bounds) else ""
    label = wrap_to_width(
        f"regret after the last round{doubt}", FIGURE_WIDTH - 2.0 * MARGIN, TEXT_SIZE
    )
    axes.set(ylim=(count - 0.55, -0.75), yticks=[], xlabel=label)
    for row, k in enumerate(order):
        _draw_bound(axes, row, bounds[k], drawn[k])
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x")
    format_thousands(axes.xaxis)
    add_title(figure, comparison.environment.name, "final regret")
    lay_out(figure)
    for row, k in enumerate(order):
        found = plus_minus(estimate(regrets[k]))
        room = axes_size(axes)[0] - text_width(found, SMALL_SIZE) - NAME_GAP
        name = cut_to_width(comparison.labels[k], room, SMALL_SIZE, "bold")
        _write_at_side(axes, 0.0, row - 0.3, name, fontweight="bold")
        _write_at_side(axes, 1.0, row - 0.3, found)
    return figure


def _draw_regrets(axes: Axes, row: int, values: Floats, style: Style) -> None:
    """Draw a tick for the regret of each game, and the mean with its confidence interval."""
    found = estimate(values)
    height = np.full(values.size, row + 0.12)
    axes.plot(values, height, "|", color=style.colour, alpha=0.45, markersize=8.0, clip_on=False)
    axes.errorbar(
        float(found.mean),
        row + 0.12,
        xerr=float(np.nan_to_num(found.half_width)),
        fmt=style.marker,
        color=style.colour,
        markersize=6.5,
        markeredgecolor=PAPER,
        capsize=3.5,
        elinewidth=2.0,
        clip_on=False,
    )


def _set_regret_limits(axes: Axes, bounds: Sequence[Bound]) -> None:
    """Set the limits of the regret axis, with space at the right if a bound is written there."""
    low, high = axes.dataLim.intervalx
    high = max(high, MIN_SCALE)
    values = [bound.value for bound in bounds if bound.value is not None]
    near = [value for value in values if value <= NEAR_FACTOR * high]
    right = max([high * (1.35 if len(near) < len(values) else 1.06), *(1.02 * v for v in near)])
    left = 1.06 * low if low < 0.0 else 0.0
    axes.set_xlim(left, right)


def _draw_bound(axes: Axes, row: int, bound: Bound, style: Style) -> None:
    """Draw a bound as a dash-dotted line, or write it if it is unproven or beyond the axis."""
    if bound.value is None:
        return
    text, beyond = f"bound {bound_text(bound)}", bound.value > axes.get_xlim()[1]
    if beyond or not bound.applies:
        where = f"{text} →" if beyond else text
        _write_at_side(axes, 1.0, row + 0.12, where, color=FAINT, fontsize=NOTE_SIZE)
        return
    axes.vlines(bound.value, row - 0.1, row + 0.34, color=style.colour, linestyle=BOUND_DASHES)
    axes.annotate(
        f"{text} ",
        (bound.value, row + 0.12),
        ha="right",
        va="center",
        color=FAINT,
        fontsize=NOTE_SIZE,
    )


def _write_at_side(axes: Axes, side: float, row: float, text: str, **options: Any) -> None:
    """Write text at the left (side 0) or right (side 1) end of a row."""
    axes.text(
        side,
        row,
        text,
        transform=axes.get_yaxis_transform(),
        ha="right" if side else "left",
        va="center",
        bbox=TEXT_BACKGROUND,
        **{"fontsize": SMALL_SIZE, **options},
    )
