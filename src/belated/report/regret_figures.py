"""Two figures: regret over time, and regret after the last round."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from belated.analysis.bounds import Bound
from belated.analysis.statistics import estimate
from belated.arrays import Floats
from belated.comparison.feedback import FEEDBACK, groups_of, ranked
from belated.comparison.result import Comparison
from belated.comparison.summary import DAGGER_NOTE
from belated.report.figure_parts import (
    Drawing,
    add_legend,
    add_title,
    format_thousands,
    legend_label,
    new_figure,
)
from belated.report.formatting import any_unproven, bound_text, plus_minus_column
from belated.report.regret_scale import set_regret_scale, set_regret_ticks
from belated.report.style import (
    BOUND_DASHES,
    FAINT,
    FIGURE_WIDTH,
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
    wrap_to_width,
)

NEAR_FACTOR = 1.5  # bounds up to this multiple of the largest regret are drawn as lines
MARKS = 6  # markers along a line
NAME_GAP = 0.15  # inches between a name and a number on the same line
VALUE_GAP = 0.07  # inches between a mark and its number
MIN_SCALE = 1e-3  # the regret axis reaches at least this far
ROW, TITLE_ROW = 1.0, 0.62  # heights in the figure of final regrets: a learner, a setting
ROW_INCHES = 0.48


@with_figure_settings
def regret_over_time(comparison: Comparison) -> Drawing:
    """Draw the mean regret against the arm that is best so far, with 95 % bands.

    A proven bound is a dash-dotted line if it is near. The axis is logarithmic if the regrets at
    the end differ by decades.
    """
    figure = new_figure(3.1)
    entries = draw_regret_over_time(figure.add_subplot(), comparison)
    add_title(figure, comparison.environment.name, "regret over time")
    add_legend(figure.axes[0], entries)
    return figure


def draw_regret_over_time(axes: Axes, comparison: Comparison) -> list[Line2D]:
    """Draw the regret over time into given axes, and return what a legend lists."""
    styles, lines = learner_styles(comparison), {}
    for k, style in enumerate(styles):
        curve = comparison.regret_over_time(k)
        rounds = np.r_[0, comparison.checkpoints]
        mean, width = np.r_[0.0, curve.mean], np.r_[0.0, np.nan_to_num(curve.half_width)]
        lines[k] = _draw_mean(axes, rounds, mean, style, legend_label(comparison.labels[k]), k)
        axes.fill_between(
            rounds, mean - width, mean + width, color=style.colour, alpha=0.2, linewidth=0.0
        )
    axes.axhline(0.0, color=FAINT, linewidth=0.7, zorder=1)
    axes.grid(visible=True)
    last = [float(comparison.regret(k).mean()) for k in lines]
    scale = set_regret_scale(axes, "y", last)
    axes.set(xlabel="rounds", ylabel=f"regret{scale}", xlim=(0, comparison.environment.rounds))
    axes.locator_params(axis="x", nbins=5, integer=True)
    format_thousands(axes.xaxis)
    bounds = _draw_bounds(axes, comparison, styles)
    set_regret_ticks(axes, "y")
    return [*(lines[k] for k in ranked(comparison)), *bounds]


def _draw_mean(
    axes: Axes, rounds: Any, mean: Floats, style: Style, label: str, position: int
) -> Line2D:
    """Draw one mean; the markers of different lines are at different rounds."""
    every = max(1, len(rounds) // MARKS)
    shift = (position * every) // 5 % every if len(rounds) > MARKS else 0
    (line,) = axes.plot(
        rounds,
        mean,
        color=style.colour,
        linestyle=style.dashes,
        marker=style.marker,
        markevery=(max(1, every - shift), every) if len(rounds) > 2 else (1, 1),
        clip_on=False,
        label=label,
    )
    return line


def _draw_bounds(axes: Axes, comparison: Comparison, styles: Sequence[Style]) -> list[Line2D]:
    """Draw proven bounds near the regrets, set the limits of the axis, and return the lines."""
    low, top = axes.dataLim.intervaly
    top = max(top, MIN_SCALE)
    limit, lines = NEAR_FACTOR * top, []
    for k, (bound, style) in enumerate(zip(_bounds_of(comparison), styles, strict=True)):
        if bound.value is None or not bound.applies or bound.value > limit:
            continue
        top = max(top, bound.value)
        line = axes.axhline(bound.value, color=style.colour, linestyle=BOUND_DASHES, linewidth=1.1)
        line.set_label(legend_label(f"{bound.label}, {comparison.labels[k]}"))
        lines.append(line)
    axes.set_ylim(1.06 * min(low, 0.0), 1.06 * top)
    return lines


def _bounds_of(comparison: Comparison) -> list[Bound]:
    return [comparison.bound(k) for k in range(len(comparison.contenders))]


class _Row(NamedTuple):
    """A line of the figure of final regrets: its place, and a learner or the title of a setting."""

    place: float
    contender: int | None
    title: str = ""


@with_figure_settings
def final_regret(comparison: Comparison) -> Drawing:
    """Draw each learner's final regrets, their mean with its 95 % interval, and the bound.

    Learners are in groups of equal feedback, the lowest mean regret first.
    """
    rows = _rows(comparison)
    figure = new_figure(0.9 + ROW_INCHES * (rows[-1].place + 0.5))
    axes = figure.add_subplot()
    draw_final_regret(axes, comparison)
    add_title(figure, comparison.environment.name, "final regret")
    lay_out(figure)
    write_final_regrets(axes, comparison)
    return figure


def draw_final_regret(axes: Axes, comparison: Comparison) -> None:
    """Draw the marks, intervals and bounds of the final regrets into given axes."""
    styles, bounds, rows = learner_styles(comparison), _bounds_of(comparison), _rows(comparison)
    for place, k, _ in rows:
        if k is not None:
            _draw_regrets(axes, place, comparison.regret(k), styles[k])
    axes.axvline(0.0, color=FAINT, linewidth=0.7, zorder=1)
    means = [float(comparison.regret(k).mean()) for k in range(len(styles))]
    scale = set_regret_scale(axes, "x", means)
    _set_regret_limits(axes, bounds)
    doubt = f" (bounds: {DAGGER_NOTE})" if any_unproven(bounds) else ""
    label = f"regret after the last round{scale}{doubt}"
    label = wrap_to_width(label, FIGURE_WIDTH - 2.0 * MARGIN, TEXT_SIZE)
    axes.set(ylim=(rows[-1].place + 0.45, -0.75), yticks=[], xlabel=label)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x")
    set_regret_ticks(axes, "x")
    for place, k, _ in rows:
        if k is not None and bounds[k].applies:
            _draw_bound(axes, place, bounds[k], styles[k])


def write_final_regrets(axes: Axes, comparison: Comparison) -> None:
    """Write names, regrets and bounds beside the marks; call it when the layout is final."""
    rows, bounds = _rows(comparison), _bounds_of(comparison)
    order = [k for _, k, _ in rows if k is not None]
    found = [estimate(comparison.regret(k)) for k in order]
    texts = dict(zip(order, plus_minus_column(found), strict=True))
    for place, k, title in rows:
        if k is None:
            room = axes_size(axes)[0]
            _write_at_side(axes, 0.0, place, cut_to_width(title, room, SMALL_SIZE), color=FAINT)
            continue
        right = _bound_note(bounds[k], axes.get_xlim()[1])
        if not _write_beside(axes, place + 0.12, texts[k], comparison.regret(k)):
            right = f"{texts[k]}; {right}" if right else texts[k]
        taken = text_width(right, SMALL_SIZE) + NAME_GAP if right else 0.0
        name = cut_to_width(comparison.labels[k], axes_size(axes)[0] - taken, SMALL_SIZE, "bold")
        _write_at_side(axes, 0.0, place - 0.28, name, fontweight="bold")
        if right:
            _write_at_side(axes, 1.0, place - 0.28, right, color=FAINT)


def _rows(comparison: Comparison) -> list[_Row]:
    """Return the lines of the figure; settings have titles if there is more than one."""
    rows: list[_Row] = []
    place, groups = 0.0, groups_of(comparison)
    for group in groups:
        if len(groups) > 1:
            title = FEEDBACK[group.setting].title
            place += 0.1 if rows else -0.25
            rows.append(_Row(place, None, title))
            place += TITLE_ROW
        for k in group.members:
            rows.append(_Row(place, k))
            place += ROW
    return rows


def _draw_regrets(axes: Axes, place: float, values: Floats, style: Style) -> None:
    """Draw a tick for the regret of each game, and the mean with its confidence interval."""
    found = estimate(values)
    height = np.full(values.size, place + 0.12)
    axes.plot(values, height, "|", color=style.colour, alpha=0.4, markersize=9.0, clip_on=False)
    axes.errorbar(
        float(found.mean),
        place + 0.12,
        xerr=float(np.nan_to_num(found.half_width)),
        fmt=style.marker,
        color=style.colour,
        markersize=4.5,
        markeredgecolor=PAPER,
        markeredgewidth=0.6,
        capsize=4.0,
        capthick=1.4,
        elinewidth=1.6,
        clip_on=False,
    )


def _set_regret_limits(axes: Axes, bounds: Sequence[Bound]) -> None:
    """Set the limits of the regret axis so that near bounds fit."""
    low, high = axes.dataLim.intervalx
    high = max(high, MIN_SCALE)
    values = [bound.value for bound in bounds if bound.value is not None and bound.applies]
    near = [value for value in values if value <= NEAR_FACTOR * high]
    axes.set_xlim(1.06 * low if low < 0.0 else 0.0, max([1.06 * high, *(1.02 * v for v in near)]))


def _draw_bound(axes: Axes, place: float, bound: Bound, style: Style) -> None:
    """Draw a proven bound as a dash-dotted line if it is within the axis."""
    if bound.value is not None and bound.value <= axes.get_xlim()[1]:
        low, high = place - 0.1, place + 0.34
        axes.vlines(bound.value, low, high, color=style.colour, linestyle=BOUND_DASHES)


def _bound_note(bound: Bound, edge: float) -> str:
    """Return a bound as text, with an arrow if it is beyond the axis; empty if there is none."""
    if bound.value is None:
        return ""
    return f"bound {bound_text(bound)}" + (" →" if bound.value > edge else "")


def _write_beside(axes: Axes, place: float, text: str, values: Floats) -> bool:
    """Write text to the right of the marks of a row, or to the left; returns whether it fits."""
    wide = axes_size(axes)[0]
    room, gap = text_width(text, SMALL_SIZE) / wide, VALUE_GAP / wide
    found = estimate(values)
    half = float(np.nan_to_num(found.half_width))
    ends = [min(values.min(), found.mean - half), max(values.max(), found.mean + half)]
    to_axes = axes.transData + axes.transAxes.inverted()
    left, right = (float(to_axes.transform((end, place))[0]) for end in ends)
    if right + gap + room <= 1.0:
        _write_at_side(axes, right + gap, place, text, ha="left")
    elif left - gap - room >= 0.0:
        _write_at_side(axes, left - gap, place, text, ha="right")
    else:
        return False
    return True


def _write_at_side(axes: Axes, side: float, place: float, text: str, **options: Any) -> None:
    """Write text in a row, at its left (side 0), at its right (side 1) or between."""
    given = {"ha": "right" if side else "left", "fontsize": SMALL_SIZE, **options}
    axes.text(
        side,
        place,
        text,
        transform=axes.get_yaxis_transform(),
        va="center",
        bbox=TEXT_BACKGROUND,
        **given,
    )
