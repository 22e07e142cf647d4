"""Elimination: arms that are certainly worse than another are given up for good."""

import math

from belated.arrays import Floats
from belated.compiled.jit import compiled

UPPER, LOWER, ACTIVE, BOUNDS = 0, 1, 2, 3  # rows of the working space, and how many there are


@compiled
def note_bounds(
    work: Floats, arm: int, low: float, high: float, count: float, width: float
) -> None:
    """The bounds low/n - w and high/n + w on an arm's mean; of an unknown arm, none at all."""
    if count == 0:
        work[LOWER, arm] = -math.inf
        work[UPPER, arm] = math.inf
    else:
        work[LOWER, arm] = low / count - width
        work[UPPER, arm] = high / count + width


@compiled
def drop_the_worse(work: Floats) -> None:
    """Drop every active arm whose upper bound is below the lower bound of an active one.

    The arm with the largest lower bound never falls, so some arm is always active.
    """
    largest = -math.inf
    for i in range(work.shape[1]):
        if work[ACTIVE, i] == 1.0:
            largest = max(largest, work[LOWER, i])
    for i in range(work.shape[1]):
        if work[UPPER, i] < largest:
            work[ACTIVE, i] = 0.0
