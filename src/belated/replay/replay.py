"""Replay: a learner plays through given losses, delays and plays, and its predictions are kept."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belated.environments.missing import missing_counts
from belated.learners.driver import PlayableLearner, driver_for
from belated.learners.paper.skipping import skipped_rounds
from belated.play.game import Stretch
from belated.play.readable import rounds_of
from belated.replay.case import Case
from belated.types import Setting


@dataclass(frozen=True)
class Replay:
    """The predictions of a learner in every round of a case, and its state after the last round.

    `skipped` has, for each round, the rounds of the plays that were skipped at its start, if the
    learner skips plays.
    """

    predictions: list[Any]
    state: Any
    skipped: list[list[int]]

    @property
    def q(self) -> NDArray[np.float64]:
        """The weights q_t of the arms, in row t-1."""
        return np.array([prediction.q for prediction in self.predictions])


def replay(
    case: Case, learner: PlayableLearner, progress: Callable[[], None] = lambda: None
) -> Replay:
    """Play the learner through the case; `progress` is called after each round."""
    missing = missing_counts(case.delays)
    game = Stretch(0, len(case.losses), case.losses, case.delays, missing, case.advice)
    driver = driver_for(learner)
    predictions, skipped, seen = [], list[list[int]](), set[int]()
    for record in rounds_of(driver, [game], lambda t, q: int(_played(case)[t])):
        predictions.append(record.prediction)
        if getattr(learner, "skipping", False):
            new = skipped_rounds(driver.state.skippable) - seen
            skipped.append(sorted(new))
            seen |= new
        progress()
    return Replay(predictions, driver.state, skipped)


def _played(case: Case) -> NDArray[np.int64]:
    if case.arms is None:
        raise ValueError("the case names no arms; a bandit's case must name the arm of each round")
    return case.arms


def learner_for(case: Case) -> PlayableLearner:
    """Make the compiled learner that a case names."""
    from belated.learners.advice.advice import Advice
    from belated.learners.advice.advice_bandit import AdviceBandit
    from belated.learners.paper.concealed import Concealed
    from belated.learners.paper.full_information import FullInformation
    from belated.learners.paper.partially_concealed import PartiallyConcealed

    kinds: dict[Setting, Callable[..., PlayableLearner]] = {
        Setting.FULL_INFORMATION: FullInformation,
        Setting.PARTIALLY_CONCEALED: PartiallyConcealed,
        Setting.CONCEALED: Concealed,
    }
    options = dict(case.options)
    if case.advice is not None:
        full_information = case.setting is Setting.FULL_INFORMATION
        return Advice(**options) if full_information else AdviceBandit(**options)
    if case.setting is Setting.CONCEALED:
        promised = options["max_missing"] is not None
        options["gamma_bound"] = "max_missing" if promised else "waiting"
    return kinds[case.setting](**options)
