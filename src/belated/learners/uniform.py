"""Uniform play: every arm has the same probability in every round, as a baseline for learners."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Learner, Prediction, Verbs
from belated.types import Setting


class UniformState(NamedTuple):
    """State of uniform play: only the number of the coming round, since nothing is learned."""

    round: Counts


@compiled
def predict(state: UniformState, prediction: Prediction) -> None:
    """Fill in q_t(i) = 1/K."""
    q = prediction.q
    for i in range(q.shape[0]):
        q[i] = 1.0 / q.shape[0]


@compiled
def commit(state: UniformState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the round; nothing has to be frozen."""
    state.round[0] += 1
    plays[0, 0] = 0.0


@compiled
def withdraw(state: UniformState, play: Floats, arm: int) -> None:
    """Do nothing: uniform play does not wait for losses."""


@compiled
def observe(state: UniformState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Do nothing: uniform play does not use losses."""


@dataclass(frozen=True)
class Uniform(Learner):
    """A learner that plays every arm with probability 1/K in every round."""

    name: ClassVar[str] = "uniform"
    setting: ClassVar[Setting] = Setting.CONCEALED
    source: ClassVar[str] = "ours"
    play_width: ClassVar[int] = 1
    can_change_arms: ClassVar[bool] = True
    can_leave_arms_out: ClassVar[bool] = True
    guarantee: ClassVar[str] = "none: regret grows in proportion to the rounds"
    state: ClassVar[type] = UniformState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> UniformState:
        return UniformState(round=np.ones(1, dtype=np.int64))

    def losses(self, state: UniformState) -> Floats:
        return np.zeros((self.arms, 1))

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms)
