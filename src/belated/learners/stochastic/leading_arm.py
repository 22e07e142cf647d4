"""Follow the leader with bandit feedback: play the arm of the smallest mean loss so far.

Every arm is played once, and from then on the arm whose arrived losses have the smallest mean.
There is no exploration, so a single unlucky loss can hide the best arm permanently.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Learner, Prediction, Verbs
from belated.learners.states import ArmCounts
from belated.numerics.tie_breaking import share_among_largest
from belated.types import Setting

UNITS = 2.0**30  # the number of units in a loss of 1


class LeadingState(NamedTuple):
    """State, by arm: the sum of the losses that have arrived, their number, and the plays.

    The sum is in whole units, so that neither it nor a tie depends on the order of arrival.
    """

    total: ArmCounts
    arrived: ArmCounts
    tried: ArmCounts
    round: Counts


class LeadingInfo(NamedTuple):
    """The merit of each arm, which is minus its mean loss; the arm of the largest merit leads."""

    merit: Floats


@compiled
def predict(state: LeadingState, prediction: Prediction) -> None:
    """Share the weight equally among the arms not yet tried, else among those of the smallest mean.

    Arms that were tried but of which no loss has arrived come last.
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
    """Count the arm as tried; with full information, count every arm as tried."""
    for row in range(plays.shape[0]):
        plays[row, 0] = 0.0
        state.tried[row if arm < 0 else arm] += 1
    state.round[0] += 1


@compiled
def withdraw(state: LeadingState, play: Floats, arm: int) -> None:
    """Do nothing: the arm still counts as tried."""


@compiled
def observe(state: LeadingState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the loss, in whole units, to the mean of the arm."""
    state.total[arm] += math.floor(loss * UNITS + 0.5)
    state.arrived[arm] += 1


class Leading(Learner):
    """The base class of the two learners that follow the leader, for bandits and for experts."""

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
    """Follow the leader with bandit feedback: play the arm of the smallest mean observed loss."""

    name: ClassVar[str] = "leading-arm"
    setting: ClassVar[Setting] = Setting.CONCEALED
    can_leave_arms_out: ClassVar[bool] = True

    def weights_among(self, state: Any, prediction: Prediction, eligible: Floats) -> Floats:
        places, q = np.flatnonzero(eligible), np.zeros(self.arms)
        shares = np.zeros(places.size)
        share_among_largest(prediction.info.merit[places], shares)
        q[places] = shares
        return q
