"""Optimism: upper confidence bounds, and whose turn it is among arms that look equally good.

Rewards are 1 - l, which are whole multiples of 2^-53: their two-row sums are exact, so that arms
with the same rewards have the same index to the last bit, whatever order they came in.
"""

import math

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled


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
def share_among_least_played(values: Floats, row: int, plays: Counts, q: Floats) -> None:
    """Fill q evenly with the least played among the arms of the largest value in a row."""
    largest, least, count = -math.inf, 0, 0
    for i in range(q.shape[0]):
        value = values[row, i]
        if value > largest or count == 0 or (value == largest and plays[i] < least):
            largest, least, count = value, plays[i], 1
        elif value == largest and plays[i] == least:
            count += 1
    for i in range(q.shape[0]):
        q[i] = 1.0 / count if values[row, i] == largest and plays[i] == least else 0.0
