"""DORM of Flaspohler et al. (2021): delayed optimistic regret matching.

The weights are in proportion to the positive parts of the regrets, which are summed over the
observed rounds and a hint for the others. There is no rate to tune. This is the Blackwell strategy
of Hart and Mas-Colell for delayed losses.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Prediction, Verbs
from belated.learners.optimistic.hints import Hints
from belated.learners.optimistic.regret_matching import (
    Matching,
    RegretMatcher,
    fill_regret_hint,
    freeze_matched,
    learn_regret,
    match,
    tolerance,
)
from belated.learners.whole_rounds import WholeRounds, gather, withdraw


class DormState(NamedTuple):
    """State of DORM: regrets is the sum of r_s over the whole rounds, by arm."""

    rounds: WholeRounds
    hints: Hints
    matching: Matching
    regrets: Floats


@compiled
def predict(state: DormState, prediction: Prediction) -> None:
    """Fill in w_t(i), in proportion to max(0, sum_s r_s(i) + h_t(i)).

    The weights are equal if that is zero for every arm.
    """
    hint, matched = prediction.info.hint, prediction.info.matched
    fill_regret_hint(state.rounds, state.hints, state.matching, hint)
    for i in range(hint.shape[0]):
        matched[i] = state.regrets[i] + hint[i]
    match(matched, tolerance(state.matching, hint), prediction.q)


@compiled
def commit(state: DormState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the weights w_t, and add them to the record of plays."""
    freeze_matched(state.rounds, state.hints, state.matching, prediction.q, plays)


@compiled
def observe(state: DormState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Store the loss; when its round s is whole, add the regrets r_s = <g_s, w_s> 1 - g_s."""
    if gather(state.rounds, play, arm, loss):
        learn_regret(state.rounds, state.hints, state.matching)
        for i in range(state.regrets.shape[0]):
            state.regrets[i] += state.matching.regret[i]


@dataclass(frozen=True)
class Dorm(RegretMatcher):
    """DORM with exponent 2, which needs to know nothing beforehand."""

    name: ClassVar[str] = "dorm"
    state: ClassVar[type] = DormState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> DormState:
        return DormState(
            rounds=self.no_rounds(),
            hints=self.no_hints(),
            matching=self.no_matching(),
            regrets=np.zeros(self.arms),
        )
