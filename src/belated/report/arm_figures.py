"""The figures of the arms: loss against delay, and how the delays are distributed."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from belated.arrays import Floats
from belated.comparison.result import Comparison
from belated.report.arms import Arms, arms_of
from belated.report.formatting import percent
from belated.report.labels import name_points
from belated.report.measure import MARGIN, fitted, settle, wrapped
from belated.report.style import (
    FAINT,
    INK,
    NOTE,
    PAPER,
    SMALL,
    WIDTH,
    Drawing,
    Style,
    blank,
    in_this_look,
    key,
    late_axis,
    named,
    shades,
    styles,
    title,
)

LEGEND = "dot: median;  box: half of the losses;  line: 8 in 10;  tick: 99 in 100"
LABELS = 1.6  # inches for the names of arms beside their delays
MOST_DOTS = 500
MOST_STEPS = 40
EVEN = 10.0  # up to so many missing losses, an even scale will do


@in_this_look
def loss_delay_plane(comparison: Comparison) -> Drawing:
    """The arms by missing losses and loss, and the way of each learner's weight among them."""
    arms = arms_of(comparison)
    figure = blank(3.6)
    axes = figure.add_subplot()
    loss = arms.losses / arms.rounds
    most = float(arms.mean_missing.max())
    if most > EVEN:
        late_axis(axes, most)
    else:
        axes.set_xlim(-0.06 * (most or 1.0), 1.15 * (most or 1.0))
    _draw_arms(axes, arms, loss)
    entries = [
        _draw_way(axes, comparison, k, style, np.stack([arms.mean_missing, loss]))
        for k, style in enumerate(styles(comparison))
    ]
    entries.append(_draw_balanced(axes, arms, loss))
    axes.margins(y=0.14)
    axes.autoscale_view()
    axes.set(xlabel="losses missing, mean of all rounds", ylabel="loss per round")
    axes.grid(visible=True, axis="both")
    title(figure, comparison.environment.name, "arms, and where the weight went")
    key(axes, entries)
    settle(figure)
    name_points(
        axes,
        np.stack([arms.mean_missing, loss], axis=1)[arms.shown],
        [arms.labels[i] for i in arms.shown],
        [np.asarray(line.get_xydata()) for line in entries],
    )
    return figure


def _draw_arms(axes: Axes, arms: Arms, loss: Floats) -> None:
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


def _draw_way(axes: Axes, comparison: Comparison, k: int, style: Style, places: Floats) -> Line2D:
    """From where a learner's weight began to where it ended, the mean of all games."""
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
        label=named(comparison.labels[k]),
    )
    return line


def _draw_balanced(axes: Axes, arms: Arms, loss: Floats) -> Line2D:
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


@in_this_look
def delay_distributions(comparison: Comparison) -> Drawing:
    """The delays of each arm shown: median, half of them, four of five, 99 %, and never."""
    arms = arms_of(comparison)
    figure = blank(1.25 + 0.34 * arms.shown.size)
    axes = figure.add_subplot()
    finite = arms.quantiles[:, arms.shown]
    most = float(finite[np.isfinite(finite)].max(initial=1.0))
    late_axis(axes, most)
    for row, (i, colour) in enumerate(zip(arms.shown, shades(arms.shown.size), strict=True)):
        _draw_delays(axes, row, arms.quantiles[:, i], colour)
        if arms.never[i] > 0.0:
            _beside(axes, row, percent(arms.never[i]), INK)
    if (arms.never[arms.shown] > 0.0).any():
        _beside(axes, -0.8, "never", FAINT)
    names = [fitted(arms.labels[i], LABELS, SMALL, most=22) for i in arms.shown]
    axes.set_yticks(range(arms.shown.size), names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set(ylim=(arms.shown.size - 0.4, -0.6), xlabel="delay in rounds")
    axes.grid(visible=True, axis="x")
    meaning = wrapped(LEGEND, WIDTH - 2.0 * MARGIN, NOTE)
    figure.supxlabel(meaning, fontsize=NOTE, color=FAINT)
    title(figure, comparison.environment.name, "delays by arm")
    return figure


def _beside(axes: Axes, row: float, text: str, colour: str) -> None:
    """Text to the right of a row."""
    place = axes.get_yaxis_transform()
    axes.text(1.025, row, text, transform=place, va="center", fontsize=SMALL, color=colour)


def _draw_delays(axes: Axes, row: int, quantiles: Floats, colour: Any) -> None:
    """One arm; what lies among the losses that never come is an arrow at the right edge."""
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
