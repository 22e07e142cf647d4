"""DORM+ of Flaspohler et al. (2021): DORM that forgets negative regret.

The delayed, optimistic form of the regret matching+ that solves large games: an arm that was bad
for long is back as soon as it is good.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled
from belated.learners.contract import Prediction, Verbs, fill_p
from belated.learners.optimistic.regret_matching import (
    HINTED,
    MATCHED,
    RegretMatcher,
    fill_regret_hint,
    freeze_matched,
    match,
    regret_told,
    tolerance,
)
from belated.learners.whole_rounds import gather, withdraw


class DormPlusState(NamedTuple):
    """matched is p, of the last play, and hinted the hint that is part of it.

    What was told since then waits for the next hint: the steps x -> max(0, x + r_s), one after the
    other, are x -> max(floor, x + shift).
    """

    losses: Floats
    gathered: Floats
    coming: Counts
    told: Counts
    round: Counts
    hint: Counts
    latest: Floats
    history: Floats
    played: Floats
    played_told: Floats
    last_play: Floats
    made: Floats
    regret: Floats
    scale: Floats
    matched: Floats
    hinted: Floats
    floor: Floats
    shift: Floats


@compiled
def predict(state: DormPlusState, prediction: Prediction) -> None:
    """w_t in proportion to p, even if p is zero.

    p <- max(0, p + r_s + h_t - h_{t-1}) for the first round s told since the last play, without r_s
    if there is none, and p <- max(0, p + r_s) for the others.
    """
    hint, matched = prediction.work[HINTED], prediction.work[MATCHED]
    fill_regret_hint(state, hint)
    for i in range(hint.shape[0]):
        moved = state.matched[i] + (hint[i] - state.hinted[i]) + state.shift[i]
        matched[i] = max(0.0, state.floor[i], moved)
    match(matched, tolerance(state, hint), prediction.q)
    fill_p(prediction)


@compiled
def commit(state: DormPlusState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze w_t, and keep p and its hint."""
    freeze_matched(state, prediction, plays)
    for i in range(plays.shape[0]):
        state.hinted[i] = prediction.work[HINTED, i]
        state.matched[i] = prediction.work[MATCHED, i]
        state.floor[i] = -np.inf
        state.shift[i] = 0.0


@compiled
def observe(state: DormPlusState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """When round s is whole, add one more step x -> max(0, x + r_s)."""
    if gather(state, play, arm, loss):
        regret_told(state)
        for i in range(state.regret.shape[0]):
            state.floor[i] = max(0.0, state.floor[i] + state.regret[i])
            state.shift[i] += state.regret[i]


@dataclass(frozen=True)
class DormPlus(RegretMatcher):
    """DORM+ with exponent 2, which must be told nothing beforehand."""

    name: ClassVar[str] = "dorm-plus"
    state: ClassVar[type] = DormPlusState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> DormPlusState:
        return DormPlusState(
            **self.nothing_told(),
            matched=np.zeros(self.arms),
            hinted=np.zeros(self.arms),
            floor=np.full(self.arms, -np.inf),
            shift=np.zeros(self.arms),
        )
