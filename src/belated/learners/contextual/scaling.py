"""The context of a round as the vector x of the model: scaled, crossed, and with a 1 at its end.

A coordinate that holds numbers is replaced by how many standard deviations it lies above its mean,
over all plays so far and the coming one, at most 4. Among these a number counts as one at most 10
deviations from the mean before it, or a single wrong one would make all others equal. Where
interactions are wanted, products of two coordinates follow. All is divided by the root of the
number of coordinates, so that x has about the same length whatever their number is; the last
coordinate of x is 1.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.features.encoder import UNKNOWN

FARTHEST = 4.0  # standard deviations
CREDIBLE, FEW = 10.0, 10.0  # standard deviations of a number that is seen, after a few


class Scaling(NamedTuple):
    """Of each coordinate: how many numbers were seen, their mean, and their squared deviations.

    `scaled` is 1 for coordinates that are scaled, 0 for those that stay as they are.
    """

    seen: Floats
    mean: Floats
    deviations: Floats
    scaled: Floats


def nothing_seen(scaled: Floats) -> Scaling:
    """Make the record before the first round."""
    seen, mean, deviations = np.zeros((3, scaled.size))
    return Scaling(seen, mean, deviations, scaled)


def crossed_width(scaled: Floats, interactions: int) -> int:
    """Return the number of coordinates of x without the last: with products, if they are wanted.

    There are products of all pairs of different coordinates, and the squares of scaled ones.
    """
    width = scaled.size
    return width if interactions < 2 else width + width * (width - 1) // 2 + int(scaled.sum())


@compiled
def credible(scaling: Scaling, i: int, raw: float) -> float:
    """Return a number as it is seen: at most 10 deviations from the mean, once there are any."""
    seen, deviations = scaling.seen[i], scaling.deviations[i]
    if seen < FEW or deviations <= 0.0:
        return raw
    most = CREDIBLE * math.sqrt(deviations / seen)
    return float(min(max(raw, scaling.mean[i] - most), scaling.mean[i] + most))


@compiled
def mean_with(scaling: Scaling, i: int, raw: float) -> float:
    """Return the mean of a coordinate with one more number (Welford)."""
    return float(scaling.mean[i] + (raw - scaling.mean[i]) / (scaling.seen[i] + 1.0))


@compiled
def deviations_with(scaling: Scaling, i: int, raw: float, mean: float) -> float:
    """Return the squared deviations of a coordinate with one more number and the mean with it."""
    return float(scaling.deviations[i] + (raw - scaling.mean[i]) * (raw - mean))


@compiled
def standardized(scaling: Scaling, i: int, raw: float) -> float:
    """Return a coordinate as it enters x; 0 where it is not known, or has always been the same."""
    if raw == UNKNOWN:
        return 0.0
    if scaling.scaled[i] == 0.0:
        return raw
    number = credible(scaling, i, raw)
    mean = mean_with(scaling, i, number)
    deviations = deviations_with(scaling, i, number, mean)
    return in_deviations(raw, mean, deviations / (scaling.seen[i] + 1.0))


@compiled
def in_deviations(raw: float, mean: float, variance: float) -> float:
    """Return how many standard deviations a number lies above the mean, at most 4."""
    if variance <= 0.0:
        return 0.0
    return min(max((raw - mean) / math.sqrt(variance), -FARTHEST), FARTHEST)


@compiled
def fill_scaled(scaling: Scaling, context: Floats, x: Floats) -> None:
    """Fill in the scaled coordinates of a context, and their products if x has room for them."""
    width = context.shape[0]
    for i in range(width):
        x[i] = standardized(scaling, i, context[i])
    if x.shape[0] > width:
        place = width
        for i in range(width):
            for j in range(i if scaling.scaled[i] == 1.0 else i + 1, width):
                x[place] = min(max(x[i] * x[j], -FARTHEST), FARTHEST)
                place += 1


@compiled
def fill_features(scaling: Scaling, context: Floats, x: Floats) -> None:
    """Fill in x for a context; the record of what was seen stays as it is."""
    last = x.shape[0] - 1
    fill_scaled(scaling, context, x[:last])
    if last > 0:
        shrink = 1.0 / math.sqrt(float(last))
        for i in range(last):
            x[i] *= shrink
    x[last] = 1.0


@compiled
def see(scaling: Scaling, context: Floats) -> None:
    """Add a context to what was seen."""
    for i in range(context.shape[0]):
        if context[i] != UNKNOWN and scaling.scaled[i] == 1.0:
            number = credible(scaling, i, context[i])
            mean = mean_with(scaling, i, number)
            scaling.deviations[i] = deviations_with(scaling, i, number, mean)
            scaling.mean[i] = mean
            scaling.seen[i] += 1.0
