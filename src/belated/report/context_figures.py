"""Four figures of games with contexts: regret by segment, and what the learners' models say.

They are of the first game of a comparison alone, which is played once more.
"""

from collections.abc import Callable

import numpy as np
from matplotlib.lines import Line2D

from belated.comparison.model_checks import calibration, learned_delays
from belated.comparison.result import Comparison
from belated.comparison.segments import segment_regrets
from belated.report.figure_parts import (
    Drawing,
    add_legend,
    add_title,
    format_thousands,
    legend_label,
    new_figure,
    set_delay_scale,
)
from belated.report.formatting import MINUS, arm_name
from belated.report.style import (
    FAINT,
    INK,
    PAPER,
    SMALL_SIZE,
    learner_styles,
    shades,
    with_figure_settings,
)
from belated.report.text_fitting import cut_to_width

SEGMENT_WIDTH = 1.6  # inches
MOST_MODELS = 3  # in one figure
MOST_ARMS = 8
TRUE_DASHES = (0, (1.2, 1.2))


@with_figure_settings
def regret_by_segment(comparison: Comparison) -> Drawing | None:
    """Draw each learner's regret per round in the segments of the features that tell most."""
    if comparison.observed is None:
        return None
    found, drawn = segment_regrets(comparison.observed), learner_styles(comparison)
    figure = new_figure(0.9 + 0.24 * len(found))
    axes = figure.add_subplot()
    places, names, row, before = [], [], -1.0, ""
    for each in found:
        row += 1.6 if before and each.feature != before else 1.0
        before = each.feature
        places.append(row)
        name = f"{each.feature} {each.label.replace('-', MINUS)}"
        names.append(cut_to_width(name, SEGMENT_WIDTH, SMALL_SIZE))
    width = comparison.units.width
    entries = []
    for k, style in enumerate(drawn):
        regrets = [width * each.regrets[k] for each in found]
        (line,) = axes.plot(
            regrets, places, style.marker, color=style.colour, markeredgecolor=PAPER,
            markersize=6.5, linestyle="none", label=legend_label(comparison.labels[k]), zorder=3.0,
        )  # fmt: skip
        entries.append(line)
    axes.axvline(0.0, color=FAINT, linewidth=0.7, zorder=1)
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set(ylim=(row + 0.6, -0.6), xlabel="regret per round")
    axes.grid(visible=True, axis="both")
    format_thousands(axes.xaxis)
    add_title(figure, comparison.environment.name, "regret by segment")
    add_legend(axes, entries)
    return figure


@with_figure_settings
def calibration_of_models(comparison: Comparison) -> Drawing | None:
    """Draw the mean reward against the predicted reward, in groups of plays."""
    observed = comparison.observed
    if observed is None:
        return None
    styles = learner_styles(comparison)
    models = [
        (run, style, found)
        for run, style in zip(observed.runs, styles, strict=True)
        if (found := calibration(observed.game, run)) is not None
    ][:MOST_MODELS]
    if not models:
        return None
    figure = new_figure(3.0)
    axes = figure.add_subplot()
    entries = []
    for run, style, found in models:
        (line,) = axes.plot(
            found.foretold, found.came, color=style.colour, linestyle=style.dashes,
            marker=style.marker, markeredgecolor=PAPER, markersize=6.5, linewidth=1.2,
            label=legend_label(run.label),
        )  # fmt: skip
        axes.plot(
            found.foretold, found.told, style.marker, color=PAPER, markeredgecolor=style.colour,
            markersize=4.5, linestyle="none", zorder=2.5,
        )  # fmt: skip
        entries.append(line)
    low, high = axes.dataLim.intervalx
    axes.plot([low, high], [low, high], color=FAINT, linewidth=0.8, zorder=1.5)
    entries.append(Line2D([], [], color=FAINT, linewidth=0.8, label="predicted = true"))
    entries.append(
        Line2D([], [], marker="o", color=PAPER, markeredgecolor=INK, markersize=4.5,
               label="only plays with a report")
    )  # fmt: skip
    axes.set(xlabel="predicted reward of a play", ylabel="mean reward")
    axes.grid(visible=True, axis="both")
    add_title(figure, comparison.environment.name, "predicted and true rewards")
    add_legend(axes, entries)
    return figure


@with_figure_settings
def delays_as_learned(comparison: Comparison) -> Drawing | None:
    """Draw, by arm, the chance that a report takes longer than an age: as learned, and as true."""
    observed = comparison.observed
    laws = [] if observed is None else [learned_delays(observed.game, run) for run in observed.runs]
    known = [law for law in laws if law is not None]
    if observed is None or not known:
        return None
    law, game = known[0], observed.game
    shown = range(min(MOST_ARMS, len(game.labels)))
    figure = new_figure(2.7)
    axes = figure.add_subplot()
    set_delay_scale(axes, float(law.ages[-1]))
    entries = []
    ages = np.r_[0.0, law.ages]
    for arm, colour in zip(shown, shades(len(shown) + 2)[: len(shown)], strict=True):
        for values, dashes in ((law.learned, "-"), (law.true, TRUE_DASHES)):
            heights = 100.0 * np.r_[1.0, values[:, arm]]
            axes.plot(ages, heights, color=colour, linestyle=dashes, linewidth=1.4)
        label = legend_label(arm_name(game.labels[arm]))
        entries.append(Line2D([], [], color=colour, label=label))
    entries.append(Line2D([], [], color=INK, label="as learned"))
    entries.append(Line2D([], [], color=INK, linestyle=TRUE_DASHES, label="in the game"))
    axes.set(ylim=(-3.0, 103.0), yticks=[0, 50, 100])
    axes.set_yticklabels(["0", "50", "100 %"])
    axes.set(xlabel="rounds since the play", ylabel="reports outstanding")
    axes.grid(visible=True, axis="y")
    add_title(figure, comparison.environment.name, "learned delays")
    add_legend(axes, entries)
    return figure


@with_figure_settings
def weight_of_silence(comparison: Comparison) -> Drawing | None:
    """Draw the share of a model's weight that comes from plays that are silent, over time."""
    observed = comparison.observed
    if observed is None or all(run.silent is None for run in observed.runs):
        return None
    figure = new_figure(2.2)
    axes = figure.add_subplot()
    entries = []
    for run, style in zip(observed.runs, learner_styles(comparison), strict=True):
        if run.silent is None:
            continue
        (line,) = axes.plot(
            run.looks, 100.0 * run.silent, color=style.colour, linestyle=style.dashes,
            label=legend_label(run.label),
        )  # fmt: skip
        entries.append(line)
    high = max(axes.dataLim.intervaly[1], 1.0)
    axes.set(ylim=(-0.03 * high, 1.08 * high), xlim=(0, observed.game.rounds))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.3g} %")
    axes.set(xlabel="rounds", ylabel="weight of silent plays")
    axes.grid(visible=True, axis="y")
    format_thousands(axes.xaxis)
    add_title(figure, comparison.environment.name, "weight of silence")
    add_legend(axes, entries)
    return figure


CONTEXT_FIGURES: dict[str, Callable[[Comparison], Drawing | None]] = {
    "regret-by-segment": regret_by_segment,
    "calibration": calibration_of_models,
    "learned-delays": delays_as_learned,
    "silence": weight_of_silence,
}
