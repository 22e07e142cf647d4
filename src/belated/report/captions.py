"""The captions of the figures, and descriptions of the figures for screen readers."""

from collections.abc import Callable

import numpy as np

from belated.analysis.statistics import estimate
from belated.comparison.feedback import groups_of
from belated.comparison.result import Comparison
from belated.report.arm_figures import MOST_DOTS
from belated.report.arms import ArmSummary, summarise_arms
from belated.report.context_captions import CONTEXT_CAPTIONS, Caption
from belated.report.formatting import clean, counted, listed, number, percent, plus_minus
from belated.report.repetitions import DRAWS_ONLY, repetitions_of
from belated.report.weight_figures import learned_rates, learners_with_rates, rate_text, rates_vary

MOST_NAMED = 8  # learners in one sentence
UNIFORM = 1e-6  # weights that differ by less are uniform


def _each_learner(comparison: Comparison, say: Callable[[int], str]) -> str:
    """List the learners of each setting, lowest regret first, each with `say` of its index."""
    groups, parts = groups_of(comparison), []
    for group in groups:
        each = [f"{clean(comparison.labels[k])} {say(k)}" for k in group.members[:MOST_NAMED]]
        rest = len(group.members) - len(each)
        said = listed([*each, counted(rest, "more learner")] if rest else each)
        parts.append(said if len(groups) == 1 else f"{group.feedback.plural}: {said}")
    return "; ".join(parts)


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
        "Regret so far, against the arm that is best so far: "
        f"{repetitions.mean_text}{bands}. A curve that flattens shows learning; a straight one "
        f"does not. Growth of the regret in the second half: {late}.",
        f"Line chart of regret over {comparison.environment.rounds:,} rounds. At the end: {end}.",
    )


def final_regret_caption(comparison: Comparison) -> Caption:
    """Explain the ticks, marks and intervals of the final regrets."""
    end = _each_learner(comparison, lambda k: plus_minus(estimate(comparison.regret(k))))
    repetitions = repetitions_of(comparison)
    if not repetitions.several:
        text = f"Marker: the regret of the only {repetitions.unit}."
    elif repetitions.random:
        text = (
            "Ticks: games. Marker and bar: mean and 95 % confidence interval. The games are the "
            "same for all learners, so two learners may differ clearly although their bars "
            "overlap. The text above compares them game by game."
        )
    else:
        text = (
            "Ticks: runs, all of the same game. Marker and bar: mean and 95 % confidence interval, "
            f"which covers {DRAWS_ONLY} and says nothing about other games."
        )
    return Caption(
        text,
        f"Dot plot of the regret after the last round, lowest first: {end}.",
    )


def loss_delay_plane_caption(comparison: Comparison) -> Caption:
    """Explain the circles and paths, and state where the best arm and the comparator are."""
    arms = summarise_arms(comparison)
    best = arms.best
    text = (
        "Lower is better; further left means faster feedback. Circles: arms. Each line leads from "
        "the average under a learner's first weights to that under its last (the marker). "
        f"On average {number(arms.mean_missing[best])} losses of the best arm "
        f"({arms.labels[best]}) are outstanding. The cross is the paper's balanced comparator, "
        f"which weighs loss against delay; {_balanced_text(arms)}."
    )
    if arms.hidden:
        drawn = "all" if arms.hidden <= MOST_DOTS else "some"
        text += f" {arms.hidden:,} arms have no name here; {drawn} of them are dots."
    places = [
        f"{arms.labels[i]} at {number(arms.mean_missing[i])} outstanding and a loss of "
        f"{number(arms.losses[i] / arms.rounds)}"
        for i in arms.shown
    ]
    return Caption(text, f"Scatter plot of the arms: {listed(places)}.")


def _balanced_text(arms: ArmSummary) -> str:
    """Say where the balanced comparator has its weight."""
    if len(arms.labels) > 1 and float(np.ptp(arms.balanced)) < UNIFORM:
        return f"here it is uniform over all {len(arms.labels):,} arms"
    share = percent(arms.balanced[arms.favoured])
    return f"{share} of its weight is on {arms.labels[arms.favoured]}"


def delays_caption(comparison: Comparison) -> Caption:
    """Explain the boxes, and state the share of losses that never arrive."""
    arms = summarise_arms(comparison)
    medians = arms.quantile(0.5)
    said = [f"{arms.labels[i]} {_rounds_text(medians[i])}" for i in arms.shown]
    never = float(arms.never.max())
    text = (
        "Rounds until a loss is known, for each arm, the best arm first. The box has the middle "
        "50 % of the losses, the line goes from the 10th to the 90th percentile, and the tick is "
        "the 99th."
    )
    if never > 0.0:
        latest = arms.labels[int(arms.never.argmax())]
        text += (
            " Losses that were not known when the game ended count as never: up to "
            f"{percent(never)} ({latest})."
        )
    if arms.sampled < arms.rounds:
        text += f" Computed from a sample of {arms.sampled:,} of the {arms.rounds:,} rounds."
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
        "How each learner divides its weight among the arms over time. The darkest area is the "
        f"best arm, {arms.labels[best]}; lighter is worse. Final weight on the best arm: {last}."
    )
    if arms.hidden:
        text += f" The {arms.hidden:,} arms that matter least are hatched together."
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
        "These learners weigh several learning rates and learn which is right. Dark areas are "
        f"large rates, light areas small ones. Rates are those of the last round{spread}; rates "
        f"that are always equal are one area. In the end {ended}.",
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
