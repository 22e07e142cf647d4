"""The figures of weight: on each arm and on each learning rate, over time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from belated.arrays import Floats
from belated.comparison.result import Comparison
from belated.report.arms import Arms, arms_of
from belated.report.formatting import NONE, clean, counted, percent
from belated.report.measure import MOST, fitted, inches, room_from, room_in, settle
from belated.report.style import (
    OTHERS,
    RATE_SHADES,
    SMALL,
    TEXT,
    WIDTH,
    Drawing,
    blank,
    count_axis,
    in_this_look,
    key,
    named,
    shades,
    title,
)

PANEL = 0.42 * WIDTH  # inches: the least width of one of two panels side by side
HANDLE = 0.4  # inches: the sign of a band in a legend
MOST_POINTS = 60
MOST_RATES = 8
LEAST = 0.01  # a rate that never had more weight is among the others


@in_this_look
def arm_weights(comparison: Comparison) -> Drawing:
    """The weight of each arm over time, a panel for each learner; the best arm lies lowest."""
    arms = arms_of(comparison)
    bands = _arm_bands(arms)
    count = len(comparison.labels)
    longest = max(inches(clean(label)[:MOST], TEXT) for label in comparison.labels)
    columns = 1 if count == 1 or longest > PANEL else 2
    rows = -(-count // columns)
    room = rows * columns > count  # for the legend, beside the last panel
    figure = blank(0.7 + 1.15 * rows)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for k, axes in enumerate(grid.flat[:count]):
        weights = arms.share(comparison.weights_over_time(k))
        _stack(axes, comparison.checkpoints, weights, bands)
        axes.set_title(" ", pad=3.0)
    for axes in grid[-1]:
        axes.set_xlabel("rounds")
    if room:
        grid[-1, -1].axis("off")
        _key_in(grid[-1, -1], bands)
    else:
        key(grid[0, 0], bands)
    title(figure, comparison.environment.name, "weight on each arm")
    settle(figure)
    for k, axes in enumerate(grid.flat[:count]):
        axes.set_title(fitted(comparison.labels[k], room_in(axes)[0], TEXT), pad=3.0)
    return figure


def _key_in(axes: Axes, bands: Sequence[Patch]) -> None:
    """The legend in the place of a panel, its names cut to the width of one."""
    for band in bands:
        band.set_label(named(fitted(str(band.get_label()), PANEL - HANDLE, SMALL)))
    axes.legend(handles=bands[::-1], loc="center left", labelspacing=0.3)


def _arm_bands(arms: Arms) -> list[Patch]:
    colours = shades(arms.shown.size)
    bands = [_band(named(arms.labels[i], 40), c) for i, c in zip(arms.shown, colours, strict=True)]
    if arms.hidden:
        bands.append(_band(f"the other {arms.hidden:,}", OTHERS, "////"))
    return bands


def _band(label: str, colour: Any, hatch: str | None = None) -> Patch:
    return Patch(facecolor=colour, label=label, hatch=hatch, edgecolor="white", linewidth=0.4)


@in_this_look
def rate_weights(comparison: Comparison) -> Drawing | None:
    """The weight of each learning rate over time; None if no learner weighs several."""
    several = with_rates(comparison)
    if not several:
        return None
    figure = blank(0.75 + 1.3 * len(several))
    grid = figure.subplots(len(several), 1, sharex=True, squeeze=False)
    for k, axes in zip(several, grid.flat, strict=True):
        weights, bands = _rate_bands(*learned_rates(comparison, k))
        _stack(axes, comparison.checkpoints, weights, bands)
        axes.set_title(" ", pad=3.0)
        axes.legend(
            handles=bands[::-1],
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            title="rate: weight at the end",
            fontsize=SMALL,
            title_fontsize=SMALL,
            labelspacing=0.25,
            handlelength=1.4,
            alignment="left",
        )
    grid[-1, 0].set_xlabel("rounds")
    title(figure, comparison.environment.name, "weight on each learning rate")
    settle(figure)
    for k, axes in zip(several, grid.flat, strict=True):
        axes.set_title(fitted(comparison.labels[k], room_from(axes), TEXT), pad=3.0)
    return figure


def with_rates(comparison: Comparison) -> list[int]:
    """The contenders that weigh rates which differ; late losses may cap all of them at one."""
    return [
        k
        for k, traces in enumerate(comparison.traces)
        if any(np.unique(trace.rates).size > 1 for trace in traces)
    ]


def learned_rates(comparison: Comparison, contender: int) -> tuple[Floats, Floats]:
    """The rates in each game (row), the slowest first, and their mean weights at the checkpoints.

    A column is a rate; those that are equal in every game are one.
    """
    rates = np.array([trace.rates for trace in comparison.traces[contender]])
    weights = comparison.rate_weights_over_time(contender)
    values, place = np.unique(rates, axis=1, return_inverse=True)
    merged = np.zeros((len(weights), values.shape[1]))
    np.add.at(merged.T, place.ravel(), weights.T)
    order = np.argsort(values.mean(axis=0), kind="stable")
    return values[:, order], merged[:, order]


def rate_text(rates: Floats) -> str:
    """A learning rate to three digits; from the lowest to the highest if the games differ."""
    if vary(rates):
        return f"{_digits(rates.min(), 2)}{NONE}{_digits(rates.max(), 2)}"
    return _digits(rates.mean(), 3)


def vary(rates: Floats) -> bool:
    """Whether a rate is visibly not the same in all games."""
    return _digits(rates.min(), 2) != _digits(rates.max(), 2)


def _digits(rate: float, count: int) -> str:
    return "∞" if np.isinf(rate) else f"{rate:.{count}g}"


def _rate_bands(rates: Floats, weights: Floats) -> tuple[Floats, list[Patch]]:
    """The rates that ever matter, and the others as one."""
    peaks = weights.max(axis=0)
    kept = np.sort(np.argsort(-peaks, kind="stable")[:MOST_RATES])
    kept = kept[peaks[kept] >= LEAST]
    colours = shades(kept.size, RATE_SHADES)[::-1]
    bands = [
        _band(f"{rate_text(rates[:, j])}: {percent(weights[-1, j])}", c)
        for j, c in zip(kept, colours, strict=True)
    ]
    if kept.size == weights.shape[1]:
        return weights, bands
    others = np.maximum(weights.sum(axis=1) - weights[:, kept].sum(axis=1), 0.0)
    bands.append(_band(counted(weights.shape[1] - kept.size, "other"), OTHERS, "////"))
    return np.column_stack([weights[:, kept], others]), bands


def _stack(axes: Axes, checkpoints: Any, weights: Floats, bands: Sequence[Patch]) -> None:
    """Weights stacked to 100 %, thinned out to what a figure can show."""
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
    count_axis(axes.xaxis)
