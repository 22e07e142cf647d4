"""Three figures of the log: the weights of its rows, its delays, and what it has of each policy."""

import numpy as np
from matplotlib.lines import Line2D

from belated.arrays import Floats
from belated.evaluation.delay_laws import KaplanMeier, Law, RightTruncated
from belated.evaluation.result import Findings
from belated.evaluation.value_figures import PALE, styled
from belated.report.figure_parts import (
    Drawing,
    add_legend,
    add_title,
    legend_label,
    new_figure,
    set_delay_scale,
)
from belated.report.formatting import number
from belated.report.style import FAINT, INK, PAPER, SMALL_SIZE, shades, with_figure_settings
from belated.report.text_fitting import cut_to_width

BINS = 30
MOST_ARMS = 8
LEAST = 1e-3  # smaller probabilities are drawn here


@with_figure_settings
def weights(found: Findings) -> Drawing | None:
    """Draw how the weights of each policy's rows are spread; None without weights."""
    shown = [each for each in styled(found)[1:] if _positive(each.policy.weights).size]
    if not shown:
        return None
    every = np.concatenate([_positive(each.policy.weights) for each in shown])
    low, high = float(every.min()), float(every.max())
    edges = np.geomspace(low * 0.9, high * 1.1, BINS + 1)
    figure = new_figure(2.4)
    axes = figure.add_subplot()
    entries = []
    for policy, style in shown:
        heights, _ = np.histogram(_positive(policy.weights), edges)
        axes.stairs(heights, edges, color=style.colour, linestyle=style.dashes, linewidth=1.5)
        own = f"{policy.name}: worth {number(round(policy.rows_used))} rows"
        entries.append(
            Line2D([], [], color=style.colour, linestyle=style.dashes, label=legend_label(own, 44))
        )
    axes.axvline(1.0, color=FAINT, linewidth=0.8)
    axes.set_xscale("log")
    ticks = np.outer(10.0 ** np.arange(-4, 7), [1.0, 2.0, 5.0]).ravel()
    ticks = ticks[(ticks >= edges[0]) & (ticks <= edges[-1])]
    axes.set_xticks(ticks[:: 1 + ticks.size // 8])
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter(lambda value, _: number(value))
    axes.set(xlabel="weight of a row, if above 0", ylabel="rows")
    axes.grid(visible=True, axis="y")
    add_title(figure, found.journal.name, "weights")
    add_legend(axes, entries)
    return figure


def _positive(weights: Floats | None) -> Floats:
    known = np.zeros(0) if weights is None else weights[np.isfinite(weights)]
    return known[known > 0.0]


@with_figure_settings
def delay_laws(found: Findings) -> Drawing | None:
    """Draw the two laws of delays of each arm, and the ages of what has not been told."""
    journal = found.journal
    arms = [
        arm
        for arm in np.argsort(-np.bincount(journal.chosen, minlength=len(journal.arms)))[:MOST_ARMS]
        if journal.told[journal.chosen == arm].any()
    ]
    if not journal.timed or not arms:
        return None
    figure = new_figure(2.7)
    axes = figure.add_subplot()
    set_delay_scale(axes, float(journal.ages.max()))
    entries = []
    for place, (arm, colour) in enumerate(
        zip(arms, shades(len(arms) + 2)[: len(arms)], strict=True)
    ):
        rows = journal.chosen == arm
        delays, ages, counts = journal.delays[rows], journal.ages[rows], journal.weights[rows]
        end = float(ages.max())
        laws: list[tuple[Law, object]] = [
            (KaplanMeier(delays, ages), "-"),
            (RightTruncated(delays, ages), (0, (3.0, 1.5))),
        ]
        for law, dashes in laws:
            heights = np.r_[law.before(counts), law.values(counts)]
            axes.step(
                np.r_[0.0, law.times, end], 100.0 * np.r_[heights, heights[-1]], where="post",
                color=colour, linestyle=dashes, linewidth=1.4,
            )  # fmt: skip
        untold = ages[np.isnan(delays)]
        marks = np.full(untold.size, -4.0 - 4.0 * place)
        axes.plot(untold, marks, "|", color=colour, markersize=4.0, alpha=0.5, clip_on=False)
        entries.append(Line2D([], [], color=colour, label=legend_label(journal.arms[arm])))
    entries.append(Line2D([], [], color=INK, label="known by then (Kaplan-Meier)"))
    entries.append(
        Line2D([], [], color=INK, linestyle=(0, (3.0, 1.5)), label="of all reports (truncated)")
    )
    axes.set(ylim=(-4.0 - 4.0 * len(arms), 102.0), yticks=[0, 50, 100])
    axes.set_yticklabels(["0", "50", "100 %"])
    axes.set(xlabel=f"{journal.clock} since the decision", ylabel="told")
    axes.grid(visible=True, axis="y")
    add_title(figure, journal.name, "delays of outcomes")
    add_legend(axes, entries)
    return figure


@with_figure_settings
def overlap(found: Findings) -> Drawing:
    """Draw how often each arm was logged, and how often each policy would play it."""
    journal = found.journal
    share = np.bincount(journal.chosen, minlength=len(journal.arms)) / len(journal)
    arms = np.argsort(-share, kind="stable")[: 2 * MOST_ARMS]
    figure = new_figure(0.9 + 0.3 * arms.size)
    axes = figure.add_subplot()
    places = np.arange(arms.size)
    axes.barh(places, np.maximum(share[arms], LEAST), height=0.62, color=PALE, zorder=1.5)
    entries = [Line2D([], [], color=PALE, linewidth=6.0, label="logged")]
    for policy, style in styled(found)[1:]:
        if policy.table is None:
            continue
        mean = np.maximum(policy.table.mean(axis=0)[arms], LEAST)
        (line,) = axes.plot(
            mean, places, style.marker, color=style.colour, markeredgecolor=PAPER, markersize=6.5,
            linestyle="none", label=legend_label(policy.name), zorder=3.0,
        )  # fmt: skip
        entries.append(line)
    axes.set_xscale("log")
    axes.set_xlim(0.8 * LEAST, 1.4)
    axes.set_xticks([0.001, 0.01, 0.1, 1.0], ["≤ 0.1 %", "1 %", "10 %", "100 %"])
    axes.xaxis.set_minor_formatter(lambda value, _: "")
    names = [cut_to_width(journal.arms[arm], 1.5, SMALL_SIZE) for arm in arms]
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set(ylim=(arms.size - 0.4, -0.6), xlabel="share of the decisions")
    axes.grid(visible=True, axis="x")
    add_title(figure, journal.name, "logged arms and policies")
    add_legend(axes, entries)
    return figure
