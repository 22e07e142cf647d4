"""The leading arm: what a user does who looks at averages and takes the best one.

Follow the leader with the losses of the arm played: every arm once, then the smallest mean of what
has arrived. There is no exploration, so that one unlucky loss can hide the best arm for ever.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled
from belated.learners.contract import Learner, Prediction, Verbs
from belated.learners.states import ArmCounts
from belated.numerics.tie_breaking import share_among_largest
from belated.types import Setting

UNITS = 2.0**30  # in a loss of 1


class LeadingState(NamedTuple):
    """By arm: the sum of the losses that have arrived, their number, and how often it was tried.

    The sum is kept in whole units: it is the same in whatever order losses come, and so is a tie.
    """

    total: ArmCounts
    arrived: ArmCounts
    tried: ArmCounts
    round: Counts


class LeadingInfo(NamedTuple):
    """How good each arm looks; the largest leads."""

    merit: Floats


@compiled
def predict(state: LeadingState, prediction: Prediction) -> None:
    """Evenly among the arms not yet tried; if there are none, among those of the smallest mean.

    Arms that were tried and have not answered come last.
    """
    merit = prediction.info.merit
    for i in range(merit.shape[0]):
        if state.tried[i] == 0:
            merit[i] = np.inf
        elif state.arrived[i] == 0:
            merit[i] = -np.inf
        else:
            merit[i] = -(state.total[i] / state.arrived[i])
    share_among_largest(merit, prediction.q)


@compiled
def commit(state: LeadingState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """The arm has been tried; in full information, every arm."""
    for row in range(plays.shape[0]):
        plays[row, 0] = 0.0
        state.tried[row if arm < 0 else arm] += 1
    state.round[0] += 1


@compiled
def withdraw(state: LeadingState, play: Floats, arm: int) -> None:
    """It was tried all the same."""


@compiled
def observe(state: LeadingState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """One more loss in the mean of the arm."""
    state.total[arm] += math.floor(loss * UNITS + 0.5)
    state.arrived[arm] += 1


class Leading(Learner):
    """What the two learners that follow the leader have in common."""

    source: ClassVar[str] = "ours"
    guarantee: ClassVar[str] = "none: regret can grow in proportion to the rounds"
    play_width: ClassVar[int] = 1
    can_change_arms: ClassVar[bool] = True
    state: ClassVar[type] = LeadingState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> LeadingState:
        return LeadingState(
            total=np.zeros(self.arms, dtype=np.int64),
            arrived=np.zeros(self.arms, dtype=np.int64),
            tried=np.zeros(self.arms, dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
        )

    def losses(self, state: LeadingState) -> Floats:
        losses: Floats = state.total[:, np.newaxis] / UNITS
        return losses

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, info=LeadingInfo(merit=np.zeros(self.arms)))


@dataclass(frozen=True)
class LeadingArm(Leading):
    """Follow the leader of a bandit's means."""

    name: ClassVar[str] = "leading-arm"
    setting: ClassVar[Setting] = Setting.CONCEALED
