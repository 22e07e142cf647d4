"""DORM+ of Flaspohler et al. (2021): DORM that sets negative regrets to zero.

This is the delayed, optimistic form of regret matching+, an algorithm that solves large games. An
arm that was bad for a long time gets weight again as soon as it is good.
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


class DormPlusState(NamedTuple):
    """State of DORM+: matched is p at the last play, and hinted the hint that is part of it.

    The rounds that became whole since then are applied together with the next hint: their steps
    x -> max(0, x + r_s), one after the other, are equal to x -> max(floor, x + shift).
    """

    rounds: WholeRounds
    hints: Hints
    matching: Matching
    matched: Floats
    hinted: Floats
    floor: Floats
    shift: Floats


@compiled
def predict(state: DormPlusState, prediction: Prediction) -> None:
    """Fill in w_t, in proportion to p; the weights are equal if p is zero.

    First p <- max(0, p + r_s + h_t - h_{t-1}) for the first round s that became whole since the
    last play, without r_s if there is none; then p <- max(0, p + r_s) for each other such round.
    """
    hint, matched = prediction.info.hint, prediction.info.matched
    fill_regret_hint(state.rounds, state.hints, state.matching, hint)
    for i in range(hint.shape[0]):
        moved = state.matched[i] + (hint[i] - state.hinted[i]) + state.shift[i]
        matched[i] = max(0.0, state.floor[i], moved)
    match(matched, tolerance(state.matching, hint), prediction.q)


@compiled
def commit(state: DormPlusState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the weights w_t, and store p and the hint that is part of it."""
    freeze_matched(state.rounds, state.hints, state.matching, prediction.q, plays)
    for i in range(plays.shape[0]):
        state.hinted[i] = prediction.info.hint[i]
        state.matched[i] = prediction.info.matched[i]
        state.floor[i] = -np.inf
        state.shift[i] = 0.0


@compiled
def observe(state: DormPlusState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Store the loss; when its round s is whole, append the step x -> max(0, x + r_s)."""
    if gather(state.rounds, play, arm, loss):
        learn_regret(state.rounds, state.hints, state.matching)
        regret = state.matching.regret
        for i in range(regret.shape[0]):
            state.floor[i] = max(0.0, state.floor[i] + regret[i])
            state.shift[i] += regret[i]


@dataclass(frozen=True)
class DormPlus(RegretMatcher):
    """DORM+ with exponent 2, which needs to know nothing beforehand."""

    name: ClassVar[str] = "dorm-plus"
    state: ClassVar[type] = DormPlusState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> DormPlusState:
        return DormPlusState(
            rounds=self.no_rounds(),
            hints=self.no_hints(),
            matching=self.no_matching(),
            matched=np.zeros(self.arms),
            hinted=np.zeros(self.arms),
            floor=np.full(self.arms, -np.inf),
            shift=np.zeros(self.arms),
        )
