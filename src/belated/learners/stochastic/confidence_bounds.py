"""Optimism: upper confidence bounds, and whose turn it is among arms that look equally good.

Rewards are 1 - l, which are whole multiples of 2^-53: their two-row sums are exact, so that arms
with the same rewards have the same index to the last bit, whatever order they came in.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled
from belated.learners.contract import Prediction


class IndexInfo(NamedTuple):
    """The index of each arm, of which the largest is played."""

    indices: Floats


def blank_index(arms: int) -> Prediction:
    """An empty prediction of a learner that plays the largest index."""
    return Prediction.blank(arms, info=IndexInfo(indices=np.zeros(arms)))


@compiled
def mean_reward(rewards: Floats, arm: int, count: float) -> float:
    """The exact sum of an arm's rewards, rounded once, over a count."""
    return float((rewards[0, arm] + rewards[1, arm]) / count)


@compiled
def ucb1_index(rewards: Floats, arm: int, count: float, log_time: float) -> float:
    """mean + sqrt(2 ln t / n); infinite for an arm of which nothing is known."""
    if count == 0.0:
        return math.inf
    return mean_reward(rewards, arm, count) + math.sqrt(2.0 * log_time / count)


@compiled
def share_among_least_played(values: Floats, plays: Counts, q: Floats) -> None:
    """Fill q evenly with the least played among the arms of the largest value."""
    largest, least, count = -math.inf, 0, 0
    for i in range(q.shape[0]):
        value = values[i]
        if value > largest or count == 0 or (value == largest and plays[i] < least):
            largest, least, count = value, plays[i], 1
        elif value == largest and plays[i] == least:
            count += 1
    for i in range(q.shape[0]):
        q[i] = 1.0 / count if values[i] == largest and plays[i] == least else 0.0
