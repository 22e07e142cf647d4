"""Delay-adaptive Exp3 of Gyorgy and Joulani, 2021, which needs to know nothing beforehand.

Its learning rate falls with the number of rounds played and with the number of outstanding plays in
each of them, which the learner can count.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.numerics.exponential_weights import weigh_exponentially
from belated.numerics.importance_weights import divisor
from belated.types import Covers, Origin, Setting


class DelayAdaptiveState(NamedTuple):
    """State of delay-adaptive Exp3: losses is the sum of the arrived loss estimates, by arm.

    `waiting` is the number of outstanding plays, and `total` its sum over the rounds played. The
    implicit exploration gamma_t is `exploration` times eta_t.
    """

    losses: Floats
    waiting: Counts
    total: Counts
    exploration: Floats
    round: Counts


@compiled
def predict(state: DelayAdaptiveState, prediction: Prediction) -> None:
    """Fill in q_t(i), in proportion to exp(-eta_t L(i)).

    The learning rate is eta_t = sqrt(ln K / (2 (K t + D_t))).
    """
    arms = state.losses.shape[0]
    late = state.total[0] + state.waiting[0]
    eta = math.sqrt(math.log(arms) / (2.0 * (arms * state.round[0] + late)))
    prediction.eta[0] = eta
    weigh_exponentially(state.losses, eta, prediction.q)


@compiled
def commit(state: DelayAdaptiveState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze q_t(i_t) + gamma_t, the divisor of the loss, and count the play as outstanding."""
    gamma = state.exploration[0] * prediction.eta[0]
    plays[0, 0] = divisor(prediction.q[arm] + gamma)
    state.total[0] += state.waiting[0]
    state.waiting[0] += 1
    state.round[0] += 1


@compiled
def withdraw(state: DelayAdaptiveState, play: Floats, arm: int) -> None:
    """Count one play fewer outstanding."""
    state.waiting[0] -= 1


@compiled
def observe(state: DelayAdaptiveState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the estimate l / (q_s + gamma_s), with the values from the round of the play."""
    withdraw(state, play, arm)
    state.losses[arm] += loss / play[0]


def start_adaptive(arms: int, exploration: float) -> DelayAdaptiveState:
    """Return the state before the first round."""
    return DelayAdaptiveState(
        losses=np.zeros(arms),
        waiting=np.zeros(1, dtype=np.int64),
        total=np.zeros(1, dtype=np.int64),
        exploration=np.full(1, exploration),
        round=np.ones(1, dtype=np.int64),
    )


def adaptive_bound(facts: Facts) -> float:
    """Return 2 sqrt(2 (KT + D) ln K), the regret bound of delay-adaptive Exp3.

    It is at least ln K/eta_T + sum_t eta_t (K + the outstanding plays).
    """
    size = facts.arms * facts.rounds + facts.total_delay
    return 2.0 * math.sqrt(2.0 * size * math.log(facts.arms))


@dataclass(frozen=True)
class GyorgyJoulani(Learner):
    """Delay-adaptive Exp3 with plain importance weights, whose regret is small in expectation."""

    name: ClassVar[str] = "gyorgy-joulani"
    setting: ClassVar[Setting] = Setting.CONCEALED
    guarantee: ClassVar[str] = "expected regret at most 2 sqrt(2 (KT + D) ln K)"
    covers: ClassVar[Covers] = Covers.SHARED
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = "after Gyorgy and Joulani 2021; rate and bound are derived"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = DelayAdaptiveState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> DelayAdaptiveState:
        return start_adaptive(self.arms, exploration=0.0)

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)

    def bound(self, facts: Facts) -> float:
        return adaptive_bound(facts)
