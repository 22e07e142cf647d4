"""The captions of the figures, and descriptions of the figures for screen readers."""

from collections.abc import Callable

import numpy as np

from belated.analysis.statistics import estimate
from belated.comparison.result import Comparison
from belated.report.arm_figures import MOST_DOTS
from belated.report.arms import summarise_arms
from belated.report.context_captions import CONTEXT_CAPTIONS, Caption
from belated.report.formatting import clean, counted, listed, number, percent, plus_minus
from belated.report.repetitions import DRAWS_ONLY, repetitions_of
from belated.report.weight_figures import learned_rates, learners_with_rates, rate_text, rates_vary

MOST_NAMED = 8  # learners in one sentence


def _each_learner(comparison: Comparison, say: Callable[[int], str]) -> str:
    """List the learners, lowest regret first, each followed by `say` of its index."""
    order = np.argsort([comparison.regret(k).mean() for k in range(len(comparison.labels))])
    parts = [f"{clean(comparison.labels[k])} {say(int(k))}" for k in order[:MOST_NAMED]]
    rest = len(order) - len(parts)
    return listed([*parts, counted(rest, "more learner")] if rest else parts)


def regret_over_time_caption(comparison: Comparison) -> Caption:
    """Explain the curves, and state how much each regret grew in the second half."""
    repetitions = repetitions_of(comparison)
    bands = ", with bands of 95 % confidence" if repetitions.several else ""
    half = int(np.searchsorted(comparison.checkpoints, comparison.environment.rounds / 2))

    def grown(k: int) -> str:
        mean = comparison.regret_over_time(k).mean
        return number(float(mean[-1] - mean[half]))

    late = _each_learner(comparison, grown)
    end = _each_learner(comparison, lambda k: number(float(comparison.regret(k).mean())))
    return Caption(
        "How much more each learner has lost than the arm that was best until then: "
        f"{repetitions.mean_text}{bands}. A line that flattens has learned; one that stays "
        f"straight has not. In the second half alone the regret grew by: {late}.",
        f"Line chart of regret over {comparison.environment.rounds:,} rounds. At the end: {end}.",
    )


def final_regret_caption(comparison: Comparison) -> Caption:
    """Explain the ticks, marks and intervals of the final regrets."""
    end = _each_learner(comparison, lambda k: plus_minus(estimate(comparison.regret(k))))
    repetitions = repetitions_of(comparison)
    if not repetitions.several:
        text = f"The mark is the regret of the only {repetitions.unit}."
    elif repetitions.random:
        text = (
            "Each tick is a game, the mark is their mean and its bar the 95 % confidence interval. "
            "The games are the same for all learners, so two of them may differ clearly although "
            "their bars overlap: the text above compares them game by game."
        )
    else:
        text = (
            "Each tick is a run of the one game there is, the mark is their mean and its bar the "
            f"95 % confidence interval, which covers {DRAWS_ONLY}: of other games it says nothing."
        )
    return Caption(
        text,
        f"Dot plot of the regret after the last round, lowest first: {end}.",
    )


def loss_delay_plane_caption(comparison: Comparison) -> Caption:
    """Explain the circles and paths, and state where the best arm and the comparator are."""
    arms = summarise_arms(comparison)
    best, favoured = arms.best, arms.favoured
    text = (
        "Low is good, left is prompt. Each circle is an arm; each line leads from where a "
        "learner's weight was at first to where it was in the end (the mark). "
        f"The best arm, {arms.labels[best]}, lacks {number(arms.mean_missing[best])} "
        f"losses in a round on average. The cross is the paper's balanced comparator, which "
        f"weighs loss against delay: {percent(arms.balanced[favoured])} of it is on "
        f"{arms.labels[favoured]}."
    )
    if arms.hidden:
        drawn = "all" if arms.hidden <= MOST_DOTS else "some"
        text += f" {arms.hidden:,} arms have no name here; {drawn} of them are dots."
    places = [
        f"{arms.labels[i]} at {number(arms.mean_missing[i])} missing and a loss of "
        f"{number(arms.losses[i] / arms.rounds)}"
        for i in arms.shown
    ]
    return Caption(text, f"Scatter plot of the arms: {listed(places)}.")


def delays_caption(comparison: Comparison) -> Caption:
    """Explain the boxes, and state the share of losses that never arrive."""
    arms = summarise_arms(comparison)
    medians = arms.quantile(0.5)
    said = [f"{arms.labels[i]} {_rounds_text(medians[i])}" for i in arms.shown]
    never = float(arms.never.max())
    text = (
        "After how many rounds a loss is known, for each arm, the best one first: half of the "
        "losses lie in the box, eight in ten on the line, and 99 in 100 before the tick."
    )
    if never > 0.0:
        latest = arms.labels[int(arms.never.argmax())]
        text += (
            f" What was not known when the game ended is counted as never: up to "
            f"{percent(never)} ({latest})."
        )
    if arms.sampled < arms.rounds:
        text += f" All this is from a sample of {arms.sampled:,} of the {arms.rounds:,} rounds."
    if arms.hidden:
        text += f" {counted(arms.hidden, 'arm')} not shown."
    return Caption(text, f"Box plot of the delays. Medians: {listed(said)}.")


def _rounds_text(delay: float) -> str:
    return counted(int(delay), "round") if np.isfinite(delay) else "never"


def arm_weights_caption(comparison: Comparison) -> Caption:
    """Explain the areas, and state each learner's final weight on the best arm."""
    arms = summarise_arms(comparison)
    best = arms.best
    last = _each_learner(
        comparison, lambda k: percent(float(comparison.weights_over_time(k)[-1, best]))
    )
    text = (
        "How each learner divides its weight among the arms while the game goes on: the darkest "
        f"is the best arm, {arms.labels[best]}, and lighter is worse. In the end it has: "
        f"{last}."
    )
    if arms.hidden:
        text += f" The {arms.hidden:,} arms that matter least are hatched, as one."
    return Caption(text, f"Stacked areas over time. Final weight on {arms.labels[best]}: {last}.")


def rate_weights_caption(comparison: Comparison) -> Caption:
    """Explain the areas, and state the rate with the largest final weight of each learner."""
    found, spread = [], ""
    for k in learners_with_rates(comparison):
        rates, weights = learned_rates(comparison, k)
        j = int(weights[-1].argmax())
        label, share = clean(comparison.labels[k]), percent(float(weights[-1, j]))
        found.append(f"{label} has {share} on {rate_text(rates[:, j])}")
        if any(map(rates_vary, rates.T)):
            spread = f", from the lowest to the highest of all {repetitions_of(comparison).unit}s"
    ended = listed(found)
    return Caption(
        "These learners do not choose a learning rate: they weigh several and learn which is "
        f"right. Dark is fast, light is slow; rates are those of the last round{spread}, and those "
        f"that are always equal are shown as one. In the end {ended}.",
        f"Stacked areas of the weight on each learning rate over time. In the end {ended}.",
    )


CAPTIONS: dict[str, Callable[[Comparison], Caption]] = {
    "regret-over-time": regret_over_time_caption,
    "final-regret": final_regret_caption,
    "loss-delay-plane": loss_delay_plane_caption,
    "delays": delays_caption,
    "arm-weights": arm_weights_caption,
    "rate-weights": rate_weights_caption,
    **CONTEXT_CAPTIONS,
}
