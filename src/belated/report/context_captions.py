"""The captions of the figures of games with contexts, and what a caption consists of."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from belated.comparison.model_checks import calibration
from belated.comparison.observed_runs import Observed
from belated.comparison.result import Comparison
from belated.comparison.segments import segment_regrets
from belated.report.formatting import MINUS, arm_name, clean, listed, number, percent

MOST_NAMED = 3  # learners in one sentence


class Caption(NamedTuple):
    """The text below a figure, and the description for readers who cannot see the figure."""

    text: str
    description: str


def _observed(comparison: Comparison) -> Observed:
    assert comparison.observed is not None, "only games with contexts have these captions"
    return comparison.observed


def _short(value: float) -> str:
    """Format a number with two digits."""
    return number(float(f"{value:.2g}"))


def _rounds(comparison: Comparison) -> str:
    rounds = _observed(comparison).game.rounds
    if rounds < comparison.environment.rounds:
        return f"the first {rounds:,} rounds of the first game"
    return "the first game"


def regret_by_segment_caption(comparison: Comparison) -> Caption:
    """Explain the rows, and state where the learners' regrets are largest."""
    found = segment_regrets(_observed(comparison))
    against = "segment" if _observed(comparison).game.means is None else "context"
    width = comparison.units.width
    said = []
    for k, label in enumerate(comparison.labels[:MOST_NAMED]):
        worst = max(found, key=lambda each: each.regrets[k])
        place = f"{clean(worst.feature)} {worst.label.replace('-', MINUS)}"
        said.append(f"{clean(label)} {_short(width * worst.regrets[k])} at {place}")
    best = {each.best for each in found}
    arms = f"In these segments {listed([arm_name(each) for each in sorted(best)])} would be best. "
    text = (
        f"Regret per round against the best arm of each {against}, in segments of the features on "
        f"which the right arm depends most; {_rounds(comparison)}. {arms}"
        f"Largest: {listed(said)}."
    )
    return Caption(text, f"Dot plot of regret by segment. Largest: {listed(said)}.")


def calibration_caption(comparison: Comparison) -> Caption:
    """Explain both kinds of marks, and state the mean distance of predicted and true rewards."""
    observed = _observed(comparison)
    said = []
    for run in observed.runs:
        found = calibration(observed.game, run)
        if found is not None:
            off = float(np.average(np.abs(found.foretold - found.came), weights=found.plays))
            said.append(f"{clean(run.label)} {_short(off)}")
    text = (
        "Plays in eight groups by their predicted reward. Filled marks: the mean reward of all "
        "plays. Hollow marks: that of the plays with a report. A model that learned only from the "
        f"reports would have its hollow marks on the line. Mean distance of the filled marks from "
        f"the line in {_rounds(comparison)}: {listed(said)}."
    )
    return Caption(text, f"Predicted and true rewards. Mean distance: {listed(said)}.")


def learned_delays_caption(comparison: Comparison) -> Caption:
    """Explain the two kinds of lines."""
    text = (
        "The probability that a report takes longer than a given time, if it arrives at all. "
        "Solid: as the first learner that models delays has learned it at the end. Dotted: as it "
        f"is in {_rounds(comparison)}. Arms that were seldom played borrow from the others."
    )
    return Caption(
        text, "Survival curves of delays by arm, as learned and as they are in the game."
    )


def weight_of_silence_caption(comparison: Comparison) -> Caption:
    """Explain the share, and state what it is at the end."""
    observed = _observed(comparison)
    said = [
        f"{clean(run.label)} {percent(float(run.silent[-1]))}"
        for run in observed.runs
        if run.silent is not None
    ]
    text = (
        "How much of a model rests on plays without a report: silence counts as an observation "
        "with a weight of its own. At the end of "
        f"{_rounds(comparison)}: {listed(said)}."
    )
    return Caption(text, f"Share of the weight of silent plays. At the end: {listed(said)}.")


CONTEXT_CAPTIONS: dict[str, Callable[[Comparison], Caption]] = {
    "regret-by-segment": regret_by_segment_caption,
    "calibration": calibration_caption,
    "learned-delays": learned_delays_caption,
    "silence": weight_of_silence_caption,
}
