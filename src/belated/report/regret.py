"""The figures of regret: over time, and at the end."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from belated.analysis.bounds import Bound
from belated.analysis.statistics import estimate
from belated.arrays import Floats
from belated.comparison.result import Comparison
from belated.report.formatting import NONE, UNPROVEN_NOTE, bound_text, plus_minus, unproven
from belated.report.measure import MARGIN, fitted, inches, room_from, room_in, settle, wrapped
from belated.report.style import (
    BACKING,
    BOUND,
    FAINT,
    LONGEST,
    NOTE,
    PAPER,
    SMALL,
    TEXT,
    WIDTH,
    Drawing,
    Style,
    blank,
    count_axis,
    in_this_look,
    key,
    named,
    styles,
    title,
)

NEAR = 1.5  # a bound up to here times the largest regret is drawn, one beyond is written
NEAR_SIGN = f"{NONE} · {NONE}"
MOST_NOTES = 4
NOTE_LINE = 0.13  # inches
GAP = 0.15  # inches between a name and a number in one line
LEAST = 1e-3  # less regret than this is not magnified


@in_this_look
def regret_over_time(comparison: Comparison) -> Drawing:
    """Mean regret against the arm best so far, with 95 % bands, and the bound on it at the end."""
    figure = blank(3.1)
    axes = figure.add_subplot()
    entries = []
    for k, style in enumerate(styles(comparison)):
        curve = comparison.regret_over_time(k)
        rounds = np.r_[0, comparison.checkpoints]
        mean, width = np.r_[0.0, curve.mean], np.r_[0.0, np.nan_to_num(curve.half_width)]
        label = named(comparison.labels[k])
        line = _line(axes, rounds, mean, style, label)
        axes.fill_between(
            rounds, mean - width, mean + width, color=style.colour, alpha=0.18, linewidth=0.0
        )
        entries.append((float(mean[-1]), line))
    axes.axhline(0.0, color=FAINT, linewidth=0.7, zorder=1)
    axes.grid(visible=True)
    axes.set(xlabel="rounds", ylabel="regret", xlim=(0, comparison.environment.rounds))
    axes.locator_params(axis="x", integer=True)
    count_axis(axes.xaxis)
    count_axis(axes.yaxis)
    bounds = _draw_bounds(axes, comparison)
    title(figure, comparison.environment.name, "regret over time")
    entries.sort(key=lambda entry: -entry[0])
    key(axes, [line for _, line in entries])
    _write_notes(figure, axes, comparison, bounds)
    return figure


def _line(axes: Axes, rounds: Any, mean: Floats, style: Style, label: str) -> Line2D:
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
    """Proven bounds within reach as lines; all bounds with the sign that says where they are."""
    low, top = axes.dataLim.intervaly
    top = max(top, LEAST)
    limit = NEAR * top
    found = []
    for k, (bound, style) in enumerate(zip(_bounds(comparison), styles(comparison), strict=True)):
        if bound.value is None or not np.isfinite(bound.value):
            continue
        sign = "↑ " if bound.value > limit else ""
        if bound.applies and bound.value <= limit:
            sign, top = f"{NEAR_SIGN} ", max(top, bound.value)
            axes.axhline(bound.value, color=style.colour, linestyle=BOUND, linewidth=1.1)
        found.append((k, sign, bound))
    axes.set_ylim(1.06 * min(low, 0.0), 1.06 * top)
    return found


def _write_notes(
    figure: Drawing, axes: Axes, comparison: Comparison, bounds: Sequence[tuple[int, str, Bound]]
) -> None:
    """The bounds above the plot, by which the figure grows.

    Twice, because the plot moves a little when they are there, and so does their room.
    """
    height = figure.get_figheight()
    for _ in range(2 if bounds else 0):
        settle(figure)
        notes = _notes(comparison, bounds, room_from(axes))
        axes.set_title("\n".join(notes), fontsize=NOTE, color=FAINT)
        figure.set_figheight(height + NOTE_LINE * len(notes))


def _notes(
    comparison: Comparison, bounds: Sequence[tuple[int, str, Bound]], room: float
) -> list[str]:
    """The lines about bounds that are written above the plot, none wider than the room."""
    doubt = f"; {UNPROVEN_NOTE}" if unproven(bound for _, _, bound in bounds) else ""
    head = f"Bounds on the regret at the end (↑ beyond this plot{doubt})"
    notes = wrapped(head, room, NOTE).splitlines()
    for k, sign, bound in bounds[:MOST_NOTES]:
        value = f": {bound_text(bound)} ({bound.label})"
        name = fitted(comparison.labels[k], room - inches(sign + value, NOTE), NOTE, most=LONGEST)
        notes.append(f"{sign}{name}{value}")
    more = len(bounds) - MOST_NOTES
    return [*notes, f"and {more} more"] if more > 0 else notes


def _bounds(comparison: Comparison) -> list[Bound]:
    return [comparison.bound(k) for k in range(len(comparison.contenders))]


@in_this_look
def final_regret(comparison: Comparison) -> Drawing:
    """The regret of every game, its mean and 95 % interval, lowest first, and the bound."""
    count = len(comparison.contenders)
    figure = blank(0.9 + 0.48 * count)
    axes = figure.add_subplot()
    drawn = styles(comparison)
    bounds = _bounds(comparison)
    regrets = [comparison.regret(k) for k in range(count)]
    order = sorted(range(count), key=lambda k: float(regrets[k].mean()))
    for row, k in enumerate(order):
        _draw_row(axes, row, regrets[k], drawn[k])
    axes.axvline(0.0, color=FAINT, linewidth=0.7, zorder=1)
    _make_room(axes, bounds)
    doubt = f" (bounds: {UNPROVEN_NOTE})" if unproven(bounds) else ""
    label = wrapped(f"regret after the last round{doubt}", WIDTH - 2.0 * MARGIN, TEXT)
    axes.set(ylim=(count - 0.55, -0.75), yticks=[], xlabel=label)
    for row, k in enumerate(order):
        _mark_bound(axes, row, bounds[k], drawn[k])
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x")
    count_axis(axes.xaxis)
    title(figure, comparison.environment.name, "final regret")
    settle(figure)
    for row, k in enumerate(order):
        found = plus_minus(estimate(regrets[k]))
        room = room_in(axes)[0] - inches(found, SMALL) - GAP
        name = fitted(comparison.labels[k], room, SMALL, "bold")
        _write(axes, 0.0, row - 0.3, name, fontweight="bold")
        _write(axes, 1.0, row - 0.3, found)
    return figure


def _draw_row(axes: Axes, row: int, values: Floats, style: Style) -> None:
    """A tick for each game, the mean, and its interval."""
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


def _make_room(axes: Axes, bounds: Sequence[Bound]) -> None:
    """The scale from zero, with room at the right where bounds are written."""
    low, high = axes.dataLim.intervalx
    high = max(high, LEAST)
    values = [bound.value for bound in bounds if bound.value is not None]
    near = [value for value in values if value <= NEAR * high]
    right = max([high * (1.35 if len(near) < len(values) else 1.06), *(1.02 * v for v in near)])
    left = 1.06 * low if low < 0.0 else 0.0
    axes.set_xlim(left, right)


def _mark_bound(axes: Axes, row: int, bound: Bound, style: Style) -> None:
    """The bound as a dash-dotted line; in words if it is not proven or far beyond the regrets."""
    if bound.value is None:
        return
    text, beyond = f"bound {bound_text(bound)}", bound.value > axes.get_xlim()[1]
    if beyond or not bound.applies:
        where = f"{text} →" if beyond else text
        _write(axes, 1.0, row + 0.12, where, color=FAINT, fontsize=NOTE)
        return
    axes.vlines(bound.value, row - 0.1, row + 0.34, color=style.colour, linestyle=BOUND)
    axes.annotate(
        f"{text} ", (bound.value, row + 0.12), ha="right", va="center", color=FAINT, fontsize=NOTE
    )


def _write(axes: Axes, side: float, row: float, text: str, **options: Any) -> None:
    """Text at the left (0) or right (1) end of a row."""
    axes.text(
        side,
        row,
        text,
        transform=axes.get_yaxis_transform(),
        ha="right" if side else "left",
        va="center",
        bbox=BACKING,
        **{"fontsize": SMALL, **options},
    )
