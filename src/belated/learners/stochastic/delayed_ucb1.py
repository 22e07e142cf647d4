"""Delayed-UCB1: UCB1 that counts only the rewards that have arrived.

The algorithm is from Joulani, György, Szepesvári 2013. Confidence widths shrink when a reward is
observed, not when an arm is played. The learner needs to know nothing beforehand. Late rewards add
a constant to its regret: for each arm, its gap times the largest number of its missing rewards.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Prediction, Verbs
from belated.learners.states import ArmCounts, ArmFloats
from belated.learners.stochastic.confidence_bounds import (
    IndexLearner,
    blank_index,
    share_among_least_played,
    ucb1_index,
)
from belated.numerics.exact_sums import add_exactly
from belated.types import Covers, Origin


class DelayedUcb1State(NamedTuple):
    """State, by arm: the number of arrived rewards, their exact sum in two rows, and the plays."""

    observed: ArmCounts
    rewards: ArmFloats
    plays: ArmCounts
    round: Counts


@compiled
def predict(state: DelayedUcb1State, prediction: Prediction) -> None:
    """Play the arm of the largest mean + sqrt(2 ln t / observed); if equal, the least played."""
    log_time = math.log(state.round[0])
    for i in range(prediction.q.shape[0]):
        prediction.info.indices[i] = ucb1_index(state.rewards, i, state.observed[i], log_time)
    share_among_least_played(prediction.info.indices, state.plays, prediction.q)


@compiled
def commit(state: DelayedUcb1State, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the play; nothing has to be frozen."""
    state.plays[arm] += 1
    state.round[0] += 1
    plays[0, 0] = 0.0


@compiled
def withdraw(state: DelayedUcb1State, play: Floats, arm: int) -> None:
    """Do nothing: this learner counts only the rewards that arrive."""


@compiled
def observe(state: DelayedUcb1State, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Count the observation and add the reward 1 - l to the arm's sum."""
    state.observed[arm] += 1
    add_exactly(state.rewards, arm, 1.0 - loss)


@dataclass(frozen=True)
class DelayedUcb1(IndexLearner):
    """UCB1 on the rewards that have arrived.

    Among arms of equal index the least played come first and share the weight equally.
    """

    name: ClassVar[str] = "delayed-ucb1"
    guarantee: ClassVar[str] = (
        "stochastic losses: expected regret at most the sum over worse arms of "
        "8 ln T / gap + 3.5 gap + gap E max rho"
    )
    covers: ClassVar[Covers] = Covers.ANY
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Joulani et al. 2013, read"
    play_width: ClassVar[int] = 1
    can_change_arms: ClassVar[bool] = True
    state: ClassVar[type] = DelayedUcb1State
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> DelayedUcb1State:
        return DelayedUcb1State(
            observed=np.zeros(self.arms, dtype=np.int64),
            rewards=np.zeros((2, self.arms)),
            plays=np.zeros(self.arms, dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        return blank_index(self.arms)
