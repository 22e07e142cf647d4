"""Two figures: the weights on the arms and the weights on the learning rates, over time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from belated.arrays import Floats
from belated.comparison.feedback import ranked
from belated.comparison.result import Comparison
from belated.report.arms import ArmSummary, summarise_arms
from belated.report.figure_parts import (
    Drawing,
    add_legend,
    add_title,
    format_thousands,
    legend_label,
    new_figure,
)
from belated.report.formatting import EN_DASH, clean, counted, percent
from belated.report.style import (
    FIGURE_WIDTH,
    OTHERS_COLOUR,
    RATE_SHADES,
    SMALL_SIZE,
    TEXT_SIZE,
    shades,
    with_figure_settings,
)
from belated.report.text_fitting import (
    MAX_LETTERS,
    axes_size,
    cut_to_width,
    lay_out,
    text_width,
    width_to_edge,
)

MIN_PANEL_WIDTH = 0.42 * FIGURE_WIDTH  # inches: of one of two panels side by side
HANDLE_WIDTH = 0.4  # inches: of the coloured patch in a legend
MOST_POINTS = 60  # along the time axis
MOST_RATES = 8  # with a band of their own
VISIBLE_WEIGHT = 0.05  # of all rates but the main one: with less, nothing can be seen
MIN_RATE_WEIGHT = 0.01  # rates that always have less weight are drawn as one band


@with_figure_settings
def arm_weights(comparison: Comparison) -> Drawing | None:
    """Draw the weight of each arm over time in a panel for each learner, the best arm lowest.

    Uniform play has no panel, since its weights never change; None if nothing is left to show.
    """
    arms = summarise_arms(comparison)
    learners = learners_with_weights(comparison)
    if not learners:
        return None
    bands = _arm_bands(arms)
    count = len(learners)
    labels = [comparison.labels[k] for k in learners]
    longest = max(text_width(clean(label)[:MAX_LETTERS], TEXT_SIZE) for label in labels)
    columns = 1 if count == 1 or longest > MIN_PANEL_WIDTH else 2
    rows = -(-count // columns)
    room = rows * columns > count  # whether the last panel is free for the legend
    figure = new_figure(0.7 + 1.15 * rows)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for k, axes in zip(learners, grid.flat, strict=False):
        weights = arms.share(comparison.weights_over_time(k))
        _draw_stacked(axes, comparison.checkpoints, weights, bands)
        axes.set_title(" ", pad=3.0)
    for axes in grid[-1]:
        axes.set_xlabel("rounds")
    if room:
        grid[-1, -1].axis("off")
        _add_legend_in_panel(grid[-1, -1], bands)
    else:
        add_legend(grid[0, 0], bands)
    add_title(figure, comparison.environment.name, "weight on each arm")
    lay_out(figure)
    for label, axes in zip(labels, grid.flat, strict=False):
        axes.set_title(cut_to_width(label, axes_size(axes)[0], TEXT_SIZE), pad=3.0)
    return figure


def learners_with_weights(comparison: Comparison) -> list[int]:
    """Return the contenders whose weights on the arms are worth a panel, ranked by setting."""
    if comparison.environment.arms == 1:
        return []
    return [k for k in ranked(comparison) if comparison.contenders[k].name != "uniform"]


def _add_legend_in_panel(axes: Axes, bands: Sequence[Patch]) -> None:
    """Put the legend where a panel would be, with labels cut to the width of a panel."""
    for band in bands:
        band.set_label(
            legend_label(
                cut_to_width(str(band.get_label()), MIN_PANEL_WIDTH - HANDLE_WIDTH, SMALL_SIZE)
            )
        )
    axes.legend(handles=bands[::-1], loc="center left", labelspacing=0.3)


def _arm_bands(arms: ArmSummary) -> list[Patch]:
    colours = shades(arms.shown.size)
    bands = [
        _band(legend_label(arms.labels[i], 40), c) for i, c in zip(arms.shown, colours, strict=True)
    ]
    if arms.hidden:
        bands.append(_band(f"the other {arms.hidden:,}", OTHERS_COLOUR, "////"))
    return bands


def _band(label: str, colour: Any, hatch: str | None = None) -> Patch:
    return Patch(facecolor=colour, label=label, hatch=hatch, edgecolor="white", linewidth=0.4)


@with_figure_settings
def rate_weights(comparison: Comparison) -> Drawing | None:
    """Draw the weight of each learning rate over time; None if no learner has several rates."""
    several = learners_with_rates(comparison)
    if not several:
        return None
    figure = new_figure(0.75 + 1.3 * len(several))
    grid = figure.subplots(len(several), 1, sharex=True, squeeze=False)
    for k, axes in zip(several, grid.flat, strict=True):
        weights, bands = _rate_bands(*learned_rates(comparison, k))
        _draw_stacked(axes, comparison.checkpoints, weights, bands)
        axes.set_title(" ", pad=3.0)
        axes.legend(
            handles=bands[::-1],
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            title="rate: weight at the end",
            fontsize=SMALL_SIZE,
            title_fontsize=SMALL_SIZE,
            labelspacing=0.25,
            handlelength=1.4,
            alignment="left",
        )
    grid[-1, 0].set_xlabel("rounds")
    add_title(figure, comparison.environment.name, "weight on each learning rate")
    lay_out(figure)
    for k, axes in zip(several, grid.flat, strict=True):
        axes.set_title(cut_to_width(comparison.labels[k], width_to_edge(axes), TEXT_SIZE), pad=3.0)
    return figure


def learners_with_rates(comparison: Comparison) -> list[int]:
    """Return the contenders that weigh several learning rates, if that can be seen.

    A learner is left out if late losses cap all its rates at one value, or if one rate has almost
    all the weight from the beginning to the end.
    """
    return [
        k
        for k, traces in enumerate(comparison.traces)
        if any(np.unique(trace.rates).size > 1 for trace in traces)
        and _some_rate_changes(learned_rates(comparison, k)[1])
    ]


def _some_rate_changes(weights: Floats) -> bool:
    return bool(np.sort(weights, axis=1)[:, :-1].sum(axis=1).max() > VISIBLE_WEIGHT)


def learned_rates(comparison: Comparison, contender: int) -> tuple[Floats, Floats]:
    """Return a contender's rates in each game and their mean weights at each checkpoint.

    Both arrays have a column for each rate, in increasing order. Rates that are equal in every
    game are merged into one column.
    """
    rates = np.array([trace.rates for trace in comparison.traces[contender]])
    weights = comparison.rate_weights_over_time(contender)
    values, place = np.unique(rates, axis=1, return_inverse=True)
    merged = np.zeros((len(weights), values.shape[1]))
    np.add.at(merged.T, place.ravel(), weights.T)
    order = np.argsort(values.mean(axis=0), kind="stable")
    return values[:, order], merged[:, order]


def rate_text(rates: Floats) -> str:
    """Format a learning rate with three digits, or as a range if it differs between games."""
    if rates_vary(rates):
        return f"{_format_rate(rates.min(), 2)}{EN_DASH}{_format_rate(rates.max(), 2)}"
    return _format_rate(rates.mean(), 3)


def rates_vary(rates: Floats) -> bool:
    """Return whether a rate, to two digits, differs between games."""
    return _format_rate(rates.min(), 2) != _format_rate(rates.max(), 2)


def _format_rate(rate: float, count: int) -> str:
    return "∞" if np.isinf(rate) else f"{rate:.{count}g}"


def _rate_bands(rates: Floats, weights: Floats) -> tuple[Floats, list[Patch]]:
    """Return the weights and legend patches of the main rates, with all others as one band."""
    peaks = weights.max(axis=0)
    kept = np.sort(np.argsort(-peaks, kind="stable")[:MOST_RATES])
    kept = kept[peaks[kept] >= MIN_RATE_WEIGHT]
    colours = shades(kept.size, RATE_SHADES)[::-1]
    bands = [
        _band(f"{rate_text(rates[:, j])}: {percent(weights[-1, j])}", c)
        for j, c in zip(kept, colours, strict=True)
    ]
    if kept.size == weights.shape[1]:
        return weights, bands
    others = np.maximum(weights.sum(axis=1) - weights[:, kept].sum(axis=1), 0.0)
    bands.append(_band(counted(weights.shape[1] - kept.size, "other"), OTHERS_COLOUR, "////"))
    return np.column_stack([weights[:, kept], others]), bands


def _draw_stacked(axes: Axes, checkpoints: Any, weights: Floats, bands: Sequence[Patch]) -> None:
    """Draw weights over time as areas stacked to 100 %, at no more than `MOST_POINTS` times."""
    kept = np.unique(np.linspace(0, len(weights) - 1, MOST_POINTS).round().astype(int))
    rounds = np.r_[0, checkpoints[kept]]
    heights = 100.0 * np.vstack([weights[:1], weights[kept]])
    below = np.zeros(len(rounds))
    for column, band in zip(heights.T, bands, strict=True):
        axes.fill_between(
            rounds,
            below,
            below + column,
            facecolor=band.get_facecolor(),
            edgecolor="white" if band.get_hatch() is None else band.get_edgecolor(),
            hatch=band.get_hatch(),
            linewidth=0.4,
        )
        below = below + column
    axes.set(xlim=(0, rounds[-1]), ylim=(0, 100), yticks=[0, 50, 100])
    axes.set_yticklabels(["0", "50", "100 %"])
    axes.locator_params(axis="x", nbins=4, integer=True)
    format_thousands(axes.xaxis)
