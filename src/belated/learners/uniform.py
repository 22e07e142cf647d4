"""Uniform play: every arm alike, whatever happens. What a learner must beat to be worth running."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled
from belated.learners.contract import Learner, Prediction, Verbs
from belated.types import Setting


class UniformState(NamedTuple):
    """The round to come; there is nothing to learn."""

    round: Counts


@compiled
def predict(state: UniformState, prediction: Prediction) -> None:
    """q_t(i) = 1/K."""
    q = prediction.q
    for i in range(q.shape[0]):
        q[i] = 1.0 / q.shape[0]


@compiled
def commit(state: UniformState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """The round is over."""
    state.round[0] += 1
    plays[0, 0] = 0.0


@compiled
def withdraw(state: UniformState, play: Floats, arm: int) -> None:
    """Nothing was waited for."""


@compiled
def observe(state: UniformState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Nothing is learned."""


@dataclass(frozen=True)
class Uniform(Learner):
    """Every arm with probability 1/K, in every round."""

    name: ClassVar[str] = "uniform"
    setting: ClassVar[Setting] = Setting.CONCEALED
    source: ClassVar[str] = "ours"
    play_width: ClassVar[int] = 1
    can_change_arms: ClassVar[bool] = True
    guarantee: ClassVar[str] = "none: regret grows in proportion to the rounds"
    state: ClassVar[type] = UniformState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> UniformState:
        return UniformState(round=np.ones(1, dtype=np.int64))

    def losses(self, state: UniformState) -> Floats:
        return np.zeros((self.arms, 1))

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms)
