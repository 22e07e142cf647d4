"""PatientBandits (Gael, Vernade, Carpentier, Valko 2020): UCB for delays with heavy tails.

A reward that has not arrived counts as zero, so the means are too low by an amount that the tails
of the delays limit. The upper confidence bound adds this bias, so that slow arms are not given up.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Prediction, Verbs
from belated.learners.stochastic.confidence_bounds import (
    IndexLearner,
    blank_index,
    mean_reward,
    share_among_least_played,
)
from belated.learners.stochastic.stochastic import not_negative
from belated.numerics.exact_sums import add_exactly
from belated.types import Covers, Need, Origin


class PatientBanditsState(NamedTuple):
    """State, by arm: the number of arrived rewards, their exact sum in two rows, plays and bonus.

    bonus is what the upper confidence bound adds to the mean; it depends on the number of plays.
    """

    observed: Counts
    rewards: Floats
    plays: Counts
    bonus: Floats
    deviation: Floats
    exponent: Floats
    round: Counts


@compiled
def predict(state: PatientBanditsState, prediction: Prediction) -> None:
    """Play the arm of the largest upper bound: arrived rewards over plays, plus the bonus."""
    for i in range(prediction.q.shape[0]):
        mean = mean_reward(state.rewards, i, max(1, state.plays[i]))
        prediction.info.indices[i] = mean + state.bonus[i]
    share_among_least_played(prediction.info.indices, state.plays, prediction.q)


@compiled
def commit(state: PatientBanditsState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the play and set the bonus to sqrt(2 ln(2 K T^3) / n) + 2 n^-min(alpha, 1/2).

    n is the number of plays of the arm.
    """
    state.plays[arm] += 1
    count = float(state.plays[arm])
    bias = 2.0 * count ** -state.exponent[0]
    state.bonus[arm] = math.sqrt(state.deviation[0] / count) + bias
    state.round[0] += 1
    plays[0, 0] = 0.0


@compiled
def withdraw(state: PatientBanditsState, play: Floats, arm: int) -> None:
    """Do nothing: a reward that has not arrived already counts as zero."""


@compiled
def observe(state: PatientBanditsState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Count the observation and add the reward 1 - l to the arm's sum."""
    state.observed[arm] += 1
    add_exactly(state.rewards, arm, 1.0 - loss)


@dataclass(frozen=True)
class PatientBandits(IndexLearner):
    """PatientBandits, for delays that exceed m rounds with probability at most m^-alpha.

    alpha is the option `tail_index`.
    """

    horizon: int = 1
    tail_index: float = 1.0

    name: ClassVar[str] = "patient-bandits"
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON, Need.TAIL_INDEX)
    guarantee: ClassVar[str] = (
        "stochastic losses: with a = min(alpha, 1/2), expected regret at most "
        "2 64^(1-a) T^(1-a) (K ln 2T)^a + 2K"
    )
    covers: ClassVar[Covers] = Covers.ANY
    origin: ClassVar[Origin] = Origin.READ
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
