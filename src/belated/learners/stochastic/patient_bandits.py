"""PatientBandits (Gael, Vernade, Carpentier, Valko 2020): delays with heavy tails.

A reward that has not arrived counts as zero, so means are too low, by as much as the tails of
the delays allow; an upper confidence bound with that bias added is patient with slow arms.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled
from belated.learners.contract import Prediction, Verbs
from belated.learners.stochastic.confidence_bounds import (
    blank_index,
    mean_reward,
    share_among_least_played,
)
from belated.learners.stochastic.stochastic import StochasticLearner, not_negative
from belated.numerics.exact_sums import add_exactly
from belated.types import Covers, Need


class PatientBanditsState(NamedTuple):
    """By arm: what has arrived, its exact sum in two rows, the plays, and the bonus they leave."""

    observed: Counts
    rewards: Floats
    plays: Counts
    bonus: Floats
    deviation: Floats
    exponent: Floats
    round: Counts


@compiled
def predict(state: PatientBanditsState, prediction: Prediction) -> None:
    """The arm of the largest upper bound: arrived rewards over plays, and its bonus."""
    for i in range(prediction.q.shape[0]):
        mean = mean_reward(state.rewards, i, max(1, state.plays[i]))
        prediction.info.indices[i] = mean + state.bonus[i]
    share_among_least_played(prediction.info.indices, state.plays, prediction.q)


@compiled
def commit(state: PatientBanditsState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """With n plays the bonus is sqrt(2 ln(2 K T^3) / n) + 2 n^-min(alpha, 1/2)."""
    state.plays[arm] += 1
    count = float(state.plays[arm])
    bias = 2.0 * count ** -state.exponent[0]
    state.bonus[arm] = math.sqrt(state.deviation[0] / count) + bias
    state.round[0] += 1
    plays[0, 0] = 0.0


@compiled
def withdraw(state: PatientBanditsState, play: Floats, arm: int) -> None:
    """It stays a reward of zero, as it was while it could still come."""


@compiled
def observe(state: PatientBanditsState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the reward 1 - l."""
    state.observed[arm] += 1
    add_exactly(state.rewards, arm, 1.0 - loss)


@dataclass(frozen=True)
class PatientBandits(StochasticLearner):
    """For delays of which at most m^-alpha take more than m rounds, alpha being `tail_index`."""

    horizon: int = 1
    tail_index: float = 1.0

    name: ClassVar[str] = "patient-bandits"
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON, Need.TAIL_INDEX)
    guarantee: ClassVar[str] = (
        "stochastic losses: with a = min(alpha, 1/2), expected regret at most "
        "2 64^(1-a) T^(1-a) (K ln 2T)^a + 2K"
    )
    covers: ClassVar[Covers] = Covers.ANY
    source: ClassVar[str] = "Gael et al. 2020, read"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = PatientBanditsState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)
        object.__setattr__(self, "tail_index", not_negative(self.tail_index, "tail_index"))

    def start(self) -> PatientBanditsState:
        deviation = 2.0 * (math.log(2 * self.arms) + 3.0 * math.log(self.horizon))
        return PatientBanditsState(
            observed=np.zeros(self.arms, dtype=np.int64),
            rewards=np.zeros((2, self.arms)),
            plays=np.zeros(self.arms, dtype=np.int64),
            bonus=np.full(self.arms, np.inf),
            deviation=np.full(1, deviation),
            exponent=np.full(1, min(self.tail_index, 0.5)),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        return blank_index(self.arms)
