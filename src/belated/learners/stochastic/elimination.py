"""Elimination: arms that are certainly worse than another arm are never played again."""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled


class ArmBounds(NamedTuple):
    """Bounds on the mean reward of each arm, and whether the arm is active: 1 if it is, else 0."""

    upper: Floats
    lower: Floats
    active: Floats


def blank_bounds(arms: int) -> ArmBounds:
    """Return an empty record for this number of arms."""
    return ArmBounds(np.zeros(arms), np.zeros(arms), np.zeros(arms))


@compiled
def note_bounds(
    bounds: ArmBounds, arm: int, low: float, high: float, count: float, width: float
) -> None:
    """Store the bounds low/n - w and high/n + w on an arm's mean, infinite ones if n is 0."""
    if count == 0:
        bounds.lower[arm] = -math.inf
        bounds.upper[arm] = math.inf
    else:
        bounds.lower[arm] = low / count - width
        bounds.upper[arm] = high / count + width


@compiled
def drop_the_worse(bounds: ArmBounds) -> None:
    """Drop every arm whose upper bound is below the lower bound of an active arm.

    The active arm with the largest lower bound is never dropped, so some arm is always active.
    """
    largest = -math.inf
    for i in range(bounds.active.shape[0]):
        if bounds.active[i] == 1.0:
            largest = max(largest, bounds.lower[i])
    for i in range(bounds.active.shape[0]):
        if bounds.upper[i] < largest:
            bounds.active[i] = 0.0
