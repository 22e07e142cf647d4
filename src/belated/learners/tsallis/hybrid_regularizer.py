"""What Tsallis-INF and its delayed successors share: a Tsallis and an entropy regularizer.

The Tsallis part answers for the bandit's variance and the entropy for what is late, as in the
concealed learner of the paper. The members of the family differ in their rates alone.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled
from belated.learners.contract import Learner, Prediction, Verbs, fill_p
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


LikeHybrid = Any  # a HybridState, or another state that has its fields and more


@compiled
def entropy_rate(state: LikeHybrid) -> float:
    """sqrt(ln K / (w D_t + offset)); infinite, which is no entropy at all, while that is 0."""
    arms = state.losses.shape[0]
    late = state.delay_weight[0] * (state.total[0] + state.waiting[0])
    cost = late + state.entropy_offset[0]
    if cost == 0.0 or arms == 1:
        return np.inf
    return math.sqrt(math.log(arms) / cost)


@compiled
def predict(state: LikeHybrid, prediction: Prediction) -> None:
    """The argmin of <q, L> - 2 sqrt(t + offset) sum_i sqrt(q_i) + 1/gamma_t sum_i q_i ln q_i."""
    prediction.eta[0] = 0.5 / math.sqrt(state.round[0] + state.tsallis_offset[0])
    prediction.gamma[0] = entropy_rate(state)
    prediction.passes[0] = solve_concealed(
        state.losses,
        prediction.eta[0],
        prediction.gamma[0],
        state.dual,
        prediction.q,
        prediction.dual,
        prediction.work,
    )
    fill_p(prediction)


@compiled
def commit(state: LikeHybrid, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze q_t(i_t), the probability of the play, which is under way from now on."""
    plays[0, 0] = divisor(prediction.q[arm])
    state.total[0] += state.waiting[0]
    state.waiting[0] += 1
    state.round[0] += 1
    for i in range(state.dual.shape[0]):
        state.dual[i] = prediction.dual[i]


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


@dataclass(frozen=True)
class Hybrid(Learner):
    """A member of the family; it has no more to say than its schedule."""

    setting: ClassVar[Setting] = Setting.CONCEALED
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = HybridState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    @property
    def schedule(self) -> Schedule:
        """What the rates are made of; without delays unless it is said otherwise."""
        return Schedule(delay_weight=0.0)

    def start(self) -> HybridState:
        return HybridState(
            losses=np.zeros(self.arms),
            waiting=np.zeros(1, dtype=np.int64),
            total=np.zeros(1, dtype=np.int64),
            delay_weight=np.full(1, self.schedule.delay_weight),
            tsallis_offset=np.full(1, self.schedule.tsallis_offset),
            entropy_offset=np.full(1, self.schedule.entropy_offset),
            round=np.ones(1, dtype=np.int64),
            dual=np.full(1 + self.arms, np.inf),
        )

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1, gamma=1, dual=1 + self.arms, work=WORK)
