"""The hybrid regularizer that Tsallis-INF and its delayed successors share.

It is the sum of a Tsallis entropy, which controls the variance of the loss estimates, and a
negative entropy, which controls the effect of delays, as in the concealed learner of the paper. The
learners of the family differ only in their rates.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Learner, Prediction, SolverInfo, Verbs
from belated.numerics.importance_weights import divisor
from belated.solvers.concealed import WORK, solve_concealed
from belated.types import Setting


class HybridState(NamedTuple):
    """State of the family: losses is the sum of the loss estimates that have arrived, by arm.

    `waiting` is the number of outstanding plays, and `total` its sum over the rounds played. The
    entropy rate counts each such play `delay_weight` times; the two offsets lower the rates.
    """

    losses: Floats
    waiting: Counts
    total: Counts
    delay_weight: Floats
    tsallis_offset: Floats
    entropy_offset: Floats
    round: Counts
    dual: Floats


@compiled
def entropy_rate(state: HybridState) -> float:
    """Return the entropy rate sqrt(ln K / (w D_t + offset)).

    It is infinite, so that the entropy has no effect, while w D_t + offset is 0.
    """
    arms = state.losses.shape[0]
    late = state.delay_weight[0] * (state.total[0] + state.waiting[0])
    cost = late + state.entropy_offset[0]
    if cost == 0.0 or arms == 1:
        return np.inf
    return math.sqrt(math.log(arms) / cost)


@compiled
def predict(state: HybridState, prediction: Prediction) -> None:
    """Fill in q_t, the minimiser of the regularized loss.

    It is the argmin of <q, L> - 2 sqrt(t + offset) sum_i sqrt(q_i) + 1/gamma_t sum_i q_i ln q_i.
    """
    prediction.eta[0] = 0.5 / math.sqrt(state.round[0] + state.tsallis_offset[0])
    prediction.gamma[0] = entropy_rate(state)
    info = prediction.info
    info.passes[0] = solve_concealed(
        state.losses,
        prediction.eta[0],
        prediction.gamma[0],
        state.dual,
        prediction.q,
        info.dual,
        info.work,
    )


@compiled
def commit(state: HybridState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze q_t(i_t), the probability of the arm drawn, and count the play as outstanding."""
    plays[0, 0] = divisor(prediction.q[arm])
    state.total[0] += state.waiting[0]
    state.waiting[0] += 1
    state.round[0] += 1
    for i in range(state.dual.shape[0]):
        state.dual[i] = prediction.info.dual[i]


@compiled
def withdraw(state: HybridState, play: Floats, arm: int) -> None:
    """Count one play fewer outstanding."""
    state.waiting[0] -= 1


@compiled
def observe(state: HybridState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the estimate l / q_s, where q_s is the arm's probability when it was played."""
    withdraw(state, play, arm)
    state.losses[arm] += loss / play[0]


class Schedule(NamedTuple):
    """The constants from which a learner of the family computes its rates (see `HybridState`)."""

    delay_weight: float
    tsallis_offset: float = 0.0
    entropy_offset: float = 0.0


def hybrid_start(arms: int, schedule: Schedule) -> HybridState:
    """Return the state before the first round."""
    return HybridState(
        losses=np.zeros(arms),
        waiting=np.zeros(1, dtype=np.int64),
        total=np.zeros(1, dtype=np.int64),
        delay_weight=np.full(1, schedule.delay_weight),
        tsallis_offset=np.full(1, schedule.tsallis_offset),
        entropy_offset=np.full(1, schedule.entropy_offset),
        round=np.ones(1, dtype=np.int64),
        dual=np.full(1 + arms, np.inf),
    )


@dataclass(frozen=True)
class Hybrid(Learner):
    """The base class of the learners with the hybrid regularizer; they differ in their schedule."""

    setting: ClassVar[Setting] = Setting.CONCEALED
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = HybridState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    @property
    def schedule(self) -> Schedule:
        """The constants of the rates; by default the outstanding plays have no effect."""
        return Schedule(delay_weight=0.0)

    def start(self) -> HybridState:
        return hybrid_start(self.arms, self.schedule)

    def blank(self) -> Prediction:
        info = SolverInfo.blank(self.arms, dual=1 + self.arms, work=WORK)
        return Prediction.blank(self.arms, eta=1, gamma=1, info=info)
