"""The figures of the published experiments: the published results, beside ours."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from belated.analysis.statistics import estimate
from belated.arrays import Floats
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
    INK,
    MARKERS,
    NOTE_SIZE,
    Style,
    with_figure_settings,
)
from belated.report.text_fitting import (
    MAX_LETTERS,
    figure_of,
    lay_out,
    width_to_edge,
    wrap_to_width,
)
from studies.published import ExperimentResult

RATIOS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0)
ROOM = 1.32  # the space for published numbers, as a multiple of the largest mean delay
NEAR_ZERO = 1e-6  # the lower end of a band that would extend below 0


@with_figure_settings
def published_figure(outcome: ExperimentResult) -> Drawing:
    """Draw ratios against the mean delay, or regret over time on logarithmic axes."""
    count = len(outcome.experiment.claims)
    figure = new_figure(3.1)
    axes = figure.add_subplot()
    styles = [Style(COLOURS[k], DASHES[k % len(DASHES)], MARKERS[k]) for k in range(count)]
    ratio = outcome.experiment.measure == "ratio"
    draw, finish = (_ratios, _finish_ratios) if ratio else (_curve, _finish_curves)
    lines = [draw(axes, outcome, k, style) for k, style in enumerate(styles)]
    finish(axes, outcome)
    axes.grid(visible=True)
    add_title(figure, outcome.experiment.name, outcome.experiment.title)
    add_legend(axes, lines)
    return figure


def _ratios(axes: Axes, outcome: ExperimentResult, learner: int, style: Style) -> Line2D:
    """Draw our ratios for one learner as a line with bars of 95 % confidence."""
    claim, delays = outcome.experiment.claims[learner], _mean_delays(outcome)
    found, width = np.array([outcome.found(learner, n) for n in range(len(delays))]).T
    colour, dashes, marker = style
    axes.errorbar(delays, found, np.nan_to_num(width), color=colour, linestyle="none", capsize=2.0)
    label = legend_label(
        f"{claim.learner}: {found[-1]:.2f}, published {claim.published}", MAX_LETTERS
    )
    (line,) = axes.plot(
        delays, found, color=colour, linestyle=dashes, marker=marker, label=label, clip_on=False
    )
    return line


def _mean_delays(outcome: ExperimentResult) -> list[float]:
    return [trial.mean_delay or 0.0 for trial in outcome.experiment.trials]


def _finish_ratios(axes: Axes, outcome: ExperimentResult) -> None:
    """Write each published number once, to the right of the lines."""
    delays = _mean_delays(outcome)
    last = delays[-1]
    numbers = {claim.value: claim.learner for claim in reversed(outcome.experiment.claims)}
    for value, name in numbers.items():
        if value is not None:
            axes.plot([1.04 * last, 1.07 * last], [value, value], color=INK, linewidth=1.2)
            text = f"{name.partition(',')[0]} {value:g}"
            axes.text(1.08 * last, value, text, fontsize=NOTE_SIZE, va="center")
    axes.set_yscale("log")
    axes.set_yticks(RATIOS, [f"{ratio:g}" for ratio in RATIOS])
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel="mean delay", ylabel="regret / regret at mean delay 0")
    axes.set_xlim(-0.03 * last, ROOM * last)
    axes.set_xticks(delays)
    _note(axes, "On the right: as published, for the largest mean")


def _curve(axes: Axes, outcome: ExperimentResult, learner: int, style: Style) -> Line2D:
    """Draw the mean regret with a 95 % band, and the published shape beside it."""
    claim, rounds = outcome.experiment.claims[learner], outcome.checkpoints
    curve = estimate(outcome.regrets[-1, learner])
    width = np.nan_to_num(curve.half_width)
    low = np.maximum(curve.mean - width, NEAR_ZERO)
    axes.fill_between(rounds, low, curve.mean + width, color=style.colour, alpha=0.18, linewidth=0)
    published = f", published: {claim.published}" if claim.published else ""
    (line,) = axes.plot(
        rounds,
        curve.mean,
        color=style.colour,
        linestyle=style.dashes,
        marker=style.marker,
        markevery=0.12,
        label=legend_label(
            f"{claim.learner}: e = {outcome.found(learner)[0]:.2f}{published}", MAX_LETTERS
        ),
    )
    if claim.published in SHAPES:
        shape = SHAPES[claim.published](rounds / rounds[-1], curve.mean)
        axes.plot(rounds[shape > 0.0], shape[shape > 0.0], color=FAINT, linewidth=0.9, zorder=1)
    return line


def _line(share: Floats, mean: Floats) -> Floats:
    """Return the line c t through the end of the curve."""
    line: Floats = mean[-1] * share
    return line


def _logarithm(share: Floats, mean: Floats) -> Floats:
    """Return b + c ln t through the end of the curve and its value at T/10."""
    rise = mean[-1] - mean[np.searchsorted(share, 0.1)]
    curve: Floats = mean[-1] + rise * np.log10(share)
    return curve


SHAPES = {"linear": _line, "near-linear": _line, "logarithmic": _logarithm}


def _finish_curves(axes: Axes, outcome: ExperimentResult) -> None:
    axes.set(xscale="log", yscale="log", xlabel="rounds", ylabel="pseudo-regret")
    axes.set_xlim(outcome.checkpoints[0], outcome.checkpoints[-1])
    means = outcome.regrets[-1].mean(axis=1)
    axes.set_ylim(0.6 * means.min(), 1.5 * means.max())
    format_thousands(axes.xaxis)
    format_thousands(axes.yaxis)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_minor_formatter(NullFormatter())
    _note(axes, "e: regret grows as T^e over the last factor of ten; grey: the published shape")


def _note(axes: Axes, text: str) -> None:
    """Write a remark above the plot, in as many lines as it needs."""
    lay_out(figure_of(axes))
    axes.set_title(
        wrap_to_width(text, width_to_edge(axes), NOTE_SIZE), fontsize=NOTE_SIZE, color=FAINT
    )
