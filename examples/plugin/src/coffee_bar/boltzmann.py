"""Boltzmann exploration: an arm is drawn more often if the losses that arrived for it are small.

With a share `explore` of the rounds spread evenly, no arm is forgotten. What is late is not known,
and counts only when it arrives.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Learner, Prediction, Verbs
from belated.learners.states import ArmFloats
from belated.numerics.exponential_weights import weigh_exponentially
from belated.types import Setting

UNKNOWN = 0.5  # the mean of an arm before its first loss has arrived


class BoltzmannState(NamedTuple):
    """By arm: the sum, the number and the mean of the losses that arrived, UNKNOWN among them."""

    sums: ArmFloats
    counts: ArmFloats
    means: ArmFloats
    rate: Floats
    explore: Floats


@compiled
def predict(state: BoltzmannState, prediction: Prediction) -> None:
    """Fill in q(i), in proportion to exp(-rate mean(i)), mixed with the uniform distribution."""
    weigh_exponentially(state.means, state.rate[0], prediction.q)
    explore, arms = state.explore[0], state.means.shape[0]
    for i in range(arms):
        prediction.q[i] = (1.0 - explore) * prediction.q[i] + explore / arms


@compiled
def commit(state: BoltzmannState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze nothing: a mean of losses does not depend on how they were drawn."""
    plays[0, 0] = 0.0


@compiled
def withdraw(state: BoltzmannState, play: Floats, arm: int) -> None:
    """Do nothing: losses that are outstanding are not counted."""


@compiled
def observe(state: BoltzmannState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Count the loss, and compute the mean of its arm again."""
    state.sums[arm] += loss
    state.counts[arm] += 1.0
    state.means[arm] = state.sums[arm] / state.counts[arm]


@dataclass(frozen=True)
class Boltzmann(Learner):
    """Boltzmann exploration; `rate` says how much a smaller mean loss counts."""

    rate: float = 20.0
    explore: float = 0.1

    name: ClassVar[str] = "boltzmann"
    setting: ClassVar[Setting] = Setting.CONCEALED
    guarantee: ClassVar[str] = "none"
    source: ClassVar[str] = "Sutton and Barto 2018, section 2.8, in its simplest form"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = BoltzmannState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 <= self.rate < np.inf:
            raise ValueError(f"rate is {self.rate!r}; it must be a number of at least 0")
        if not 0.0 <= self.explore <= 1.0:
            raise ValueError(f"explore is {self.explore!r}; it must be from 0 to 1")

    def start(self) -> BoltzmannState:
        return BoltzmannState(
            sums=np.full(self.arms, UNKNOWN),
            counts=np.ones(self.arms),
            means=np.full(self.arms, UNKNOWN),
            rate=np.full(1, float(self.rate)),
            explore=np.full(1, float(self.explore)),
        )

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms)
