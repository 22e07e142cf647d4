"""Upper confidence bounds, and the choice among arms whose bounds are equal.

Rewards are 1 - l, which are whole multiples of 2^-53. Their sums in two rows are exact, so that
arms with equal rewards have equal indices to the last bit, in whatever order the rewards arrived.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Prediction
from belated.learners.stochastic.stochastic import StochasticLearner


class IndexInfo(NamedTuple):
    """The index of each arm; the arm of the largest index is played."""

    indices: Floats


def blank_index(arms: int) -> Prediction:
    """Return an empty prediction for a learner that plays the arm of the largest index."""
    return Prediction.blank(arms, info=IndexInfo(indices=np.zeros(arms)))


@compiled
def mean_reward(rewards: Floats, arm: int, count: float) -> float:
    """Return the exact sum of an arm's rewards, rounded once, divided by a count."""
    return float((rewards[0, arm] + rewards[1, arm]) / count)


@compiled
def ucb1_index(rewards: Floats, arm: int, count: float, log_time: float) -> float:
    """Return the UCB1 index mean + sqrt(2 ln t / n), which is infinite if n is 0."""
    if count == 0.0:
        return math.inf
    return mean_reward(rewards, arm, count) + math.sqrt(2.0 * log_time / count)


@compiled
def share_among_least_played(values: Floats, plays: Counts, q: Floats) -> None:
    """Fill q with equal weights on the least played among the arms of the largest value."""
    largest, least, count = -math.inf, 0, 0
    for i in range(q.shape[0]):
        value = values[i]
        if value > largest or count == 0 or (value == largest and plays[i] < least):
            largest, least, count = value, plays[i], 1
        elif value == largest and plays[i] == least:
            count += 1
    for i in range(q.shape[0]):
        q[i] = 1.0 / count if values[i] == largest and plays[i] == least else 0.0


class IndexLearner(StochasticLearner):
    """A learner that plays the arm of the largest index, by what is known of that arm alone.

    So arms may be left out of a round, and the best of the others is played (Kleinberg et al. 2010,
    who call it AUER).
    """

    can_leave_arms_out: ClassVar[bool] = True

    def weights_among(self, state: Any, prediction: Prediction, eligible: Floats) -> Floats:
        places, q = np.flatnonzero(eligible), np.zeros(self.arms)
        shares = np.zeros(places.size)
        share_among_least_played(prediction.info.indices[places], state.plays[places], shares)
        q[places] = shares
        return q
