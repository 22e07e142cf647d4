"""Two figures of the arms: loss against missing losses, and the distributions of delays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from belated.arrays import Floats
from belated.comparison.feedback import ranked
from belated.comparison.result import Comparison
from belated.report.arms import ArmSummary, summarise_arms
from belated.report.figure_parts import (
    Drawing,
    add_legend,
    add_title,
    legend_label,
    new_figure,
    set_delay_scale,
)
from belated.report.formatting import percent
from belated.report.point_labels import label_points
from belated.report.style import (
    FAINT,
    FIGURE_WIDTH,
    INK,
    NOTE_SIZE,
    PAPER,
    SMALL_SIZE,
    Style,
    learner_styles,
    shades,
    with_figure_settings,
)
from belated.report.text_fitting import MARGIN, cut_to_width, lay_out, wrap_to_width

DELAY_LEGEND = "dot: median;  box: middle 50 %;  line: 10 % to 90 %;  tick: 99 %"
ARM_NAME_WIDTH = 1.6  # inches
MOST_DOTS = 500  # for arms without a label
MOST_STEPS = 40  # of the path of a learner
MAX_LINEAR = 10.0  # missing losses: up to this number the axis is linear


@with_figure_settings
def loss_delay_plane(comparison: Comparison) -> Drawing:
    """Draw each arm at its missing losses and its loss, and the paths of the learners' averages.

    A learner is drawn at the averages of all arms under its weights.
    """
    figure = new_figure(3.6)
    axes = figure.add_subplot()
    entries = draw_loss_delay_plane(axes, comparison)
    add_title(figure, comparison.environment.name, "arms, and where the weight went")
    add_legend(axes, entries)
    lay_out(figure)
    name_arms(axes, comparison, entries)
    return figure


def draw_loss_delay_plane(axes: Axes, comparison: Comparison) -> list[Line2D]:
    """Draw arms, paths and balanced comparator into given axes; returns what a legend lists."""
    arms, styles = summarise_arms(comparison), learner_styles(comparison)
    loss = arms.losses / arms.rounds
    most = float(arms.mean_missing.max())
    if most > MAX_LINEAR:
        set_delay_scale(axes, most)
    else:
        axes.set_xlim(-0.06 * (most or 1.0), 1.15 * (most or 1.0))
    _draw_arms(axes, arms, loss)
    entries = [
        _draw_path(axes, comparison, k, styles[k], np.stack([arms.mean_missing, loss]))
        for k in ranked(comparison)
    ]
    entries.append(_draw_balanced(axes, arms, loss))
    axes.margins(y=0.14)
    axes.autoscale_view()
    axes.set(xlabel="outstanding losses, mean of all rounds", ylabel="loss per round")
    axes.grid(visible=True, axis="both")
    return entries


def name_arms(axes: Axes, comparison: Comparison, lines: Sequence[Line2D]) -> None:
    """Write the names of the arms beside their circles; call it when the layout is final."""
    arms = summarise_arms(comparison)
    label_points(
        axes,
        np.stack([arms.mean_missing, arms.losses / arms.rounds], axis=1)[arms.shown],
        [arms.labels[i] for i in arms.shown],
        [np.asarray(line.get_xydata()) for line in lines],
    )


def _draw_arms(axes: Axes, arms: ArmSummary, loss: Floats) -> None:
    others = np.setdiff1d(np.arange(len(arms.labels)), arms.shown)
    dots = others[:: -(-others.size // MOST_DOTS) or 1]
    axes.plot(arms.mean_missing[dots], loss[dots], ".", color="#c9c9c4", markersize=3.0)
    axes.scatter(
        arms.mean_missing[arms.shown],
        loss[arms.shown],
        s=90.0,
        facecolor=shades(arms.shown.size),
        edgecolor=INK,
        linewidth=0.8,
        zorder=2.5,
    )


def _draw_path(axes: Axes, comparison: Comparison, k: int, style: Style, places: Floats) -> Line2D:
    """Draw the weighted average of `places` under a learner's mean weights, from start to end."""
    way = comparison.weights_over_time(k) @ places.T
    kept = np.unique(np.linspace(0, len(way) - 1, MOST_STEPS).round().astype(int))
    (line,) = axes.plot(
        *way[kept].T,
        color=style.colour,
        linestyle=style.dashes,
        linewidth=1.3,
        marker=style.marker,
        markevery=[len(kept) - 1],
        markersize=7.0,
        markeredgecolor=PAPER,
        markeredgewidth=0.8,
        zorder=3.0,
        label=legend_label(comparison.labels[k]),
    )
    return line


def _draw_balanced(axes: Axes, arms: ArmSummary, loss: Floats) -> Line2D:
    (mark,) = axes.plot(
        arms.balanced @ arms.mean_missing,
        arms.balanced @ loss,
        "+",
        color=INK,
        markersize=11.0,
        markeredgewidth=1.6,
        linestyle="none",
        zorder=3.5,
        label="balanced comparator",
        path_effects=[withStroke(linewidth=3.4, foreground=PAPER)],
    )
    return mark


@with_figure_settings
def delay_distributions(comparison: Comparison) -> Drawing:
    """Draw quantiles of the delays of each arm shown, and the share of losses that never arrive."""
    figure = new_figure(1.25 + 0.34 * summarise_arms(comparison).shown.size)
    draw_delay_distributions(figure.add_subplot(), comparison)
    meaning = wrap_to_width(DELAY_LEGEND, FIGURE_WIDTH - 2.0 * MARGIN, NOTE_SIZE)
    figure.supxlabel(meaning, fontsize=NOTE_SIZE, color=FAINT)
    add_title(figure, comparison.environment.name, "delays by arm")
    return figure


def draw_delay_distributions(axes: Axes, comparison: Comparison) -> None:
    """Draw the quantiles of the delays into given axes, in a row for each arm shown."""
    arms = summarise_arms(comparison)
    finite = arms.quantiles[:, arms.shown]
    most = float(finite[np.isfinite(finite)].max(initial=1.0))
    set_delay_scale(axes, most)
    for row, (i, colour) in enumerate(zip(arms.shown, shades(arms.shown.size), strict=True)):
        _draw_delays(axes, row, arms.quantiles[:, i], colour)
        if arms.never[i] > 0.0:
            _write_right_of_row(axes, row, percent(arms.never[i]), INK)
    if (arms.never[arms.shown] > 0.0).any():
        _write_right_of_row(axes, -0.8, "never", FAINT)
    names = [cut_to_width(arms.labels[i], ARM_NAME_WIDTH, SMALL_SIZE, most=22) for i in arms.shown]
    axes.set_yticks(range(arms.shown.size), names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set(ylim=(arms.shown.size - 0.4, -0.6), xlabel="delay in rounds")
    axes.grid(visible=True, axis="x")


def _write_right_of_row(axes: Axes, row: float, text: str, colour: str) -> None:
    """Write text to the right of a row."""
    place = axes.get_yaxis_transform()
    axes.text(1.025, row, text, transform=place, va="center", fontsize=SMALL_SIZE, color=colour)


def _draw_delays(axes: Axes, row: int, quantiles: Floats, colour: Any) -> None:
    """Draw the quantiles of one arm; infinite ones become an arrow at the right edge."""
    edge = axes.get_xlim()[1]
    low, quarter, median, three_quarters, high, latest = np.minimum(quantiles, edge)
    axes.plot([low, high], [row, row], color=INK, linewidth=1.0)
    axes.barh(
        row,
        three_quarters - quarter,
        height=0.34,
        left=quarter,
        facecolor=colour,
        edgecolor=INK,
        linewidth=0.7,
        zorder=2.5,
    )
    if latest < edge:
        axes.plot(latest, row, "|", color=INK, markersize=8.0, zorder=3.0)
    else:
        axes.plot(edge, row, ">", color=INK, markersize=4.5, clip_on=False)
    if median < edge:
        fill = PAPER if quarter < three_quarters else colour
        axes.plot(median, row, "o", color=fill, markersize=6.5, markeredgecolor=INK, zorder=3.0)
