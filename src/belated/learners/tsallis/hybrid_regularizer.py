"""What Tsallis-INF and its delayed successors share: a Tsallis and an entropy regularizer.

The Tsallis part answers for the bandit's variance and the entropy for what is late, as in the
concealed learner of the paper. The members of the family differ in their rates alone.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled
from belated.learners.contract import Learner, Prediction, SolverInfo, Verbs
from belated.numerics.importance_weights import divisor
from belated.solvers.concealed import WORK, solve_concealed
from belated.types import Setting


class HybridState(NamedTuple):
    """losses is the sum of the estimates that have arrived, by arm.

    `waiting` counts the plays under way, and `total` adds that up over the rounds played. The
    rates count every such play `delay_weight` times, and begin with the two offsets.
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
    """sqrt(ln K / (w D_t + offset)); infinite, which is no entropy at all, while that is 0."""
    arms = state.losses.shape[0]
    late = state.delay_weight[0] * (state.total[0] + state.waiting[0])
    cost = late + state.entropy_offset[0]
    if cost == 0.0 or arms == 1:
        return np.inf
    return math.sqrt(math.log(arms) / cost)


@compiled
def predict(state: HybridState, prediction: Prediction) -> None:
    """The argmin of <q, L> - 2 sqrt(t + offset) sum_i sqrt(q_i) + 1/gamma_t sum_i q_i ln q_i."""
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
    """Freeze q_t(i_t), the probability of the play, which is under way from now on."""
    plays[0, 0] = divisor(prediction.q[arm])
    state.total[0] += state.waiting[0]
    state.waiting[0] += 1
    state.round[0] += 1
    for i in range(state.dual.shape[0]):
        state.dual[i] = prediction.info.dual[i]


@compiled
def withdraw(state: HybridState, play: Floats, arm: int) -> None:
    """The play is no longer under way."""
    state.waiting[0] -= 1


@compiled
def observe(state: HybridState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add l / q_s, with the probability of the round of the play."""
    withdraw(state, play, arm)
    state.losses[arm] += loss / play[0]


class Schedule(NamedTuple):
    """What the rates of a member of the family are made of: see `HybridState`."""

    delay_weight: float
    tsallis_offset: float = 0.0
    entropy_offset: float = 0.0


def hybrid_start(arms: int, schedule: Schedule) -> HybridState:
    """The state before the first round."""
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
    """A member of the family, which differs from the others in its schedule alone."""

    setting: ClassVar[Setting] = Setting.CONCEALED
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = HybridState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    @property
    def schedule(self) -> Schedule:
        """What the rates are made of; by default plays under way are not counted."""
        return Schedule(delay_weight=0.0)

    def start(self) -> HybridState:
        return hybrid_start(self.arms, self.schedule)

    def blank(self) -> Prediction:
        info = SolverInfo.blank(self.arms, dual=1 + self.arms, work=WORK)
        return Prediction.blank(self.arms, eta=1, gamma=1, info=info)
