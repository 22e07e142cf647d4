"""A linear model of the reward of each arm, shrunk to the mean reward of all arms.

An observation is a reward y of a play with the vector x, and has a weight w: 1 for a reward that
was told, less for what silence says. Of each arm the model keeps P = (I + sum w xx')^-1, b = sum w
y x and c = sum w x; over all arms m = (1/2 + sum w y)/(1 + sum w). It foretells the reward

    f(x) = m + x'P(b - m c),

the mean of a Bayesian ridge regression with the prior variance 1 around m, and its standard
deviation is sigma sqrt(x'Px), sigma^2 = m(1 - m), with m first brought to [0.02, 0.98].
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled, compiled_apart
from belated.learners.states import ArmRows
from belated.numerics.packed_symmetric import add_to_inverse, forms, packed_identity

LEAST_MEAN = 0.02  # the mean by which the spread is computed is this far from 0 and from 1
REWARDS, WEIGHTS = range(2)  # the places in `sums`


class Ridge(NamedTuple):
    """Of each arm P (packed), b and c; `sums` has sum w y and sum w over all arms."""

    inverse: ArmRows
    rewards: ArmRows
    weights: ArmRows
    sums: Floats


def nothing_learned(arms: int, width: int) -> Ridge:
    """Make the model before the first reward, in which P is the identity."""
    return Ridge(
        inverse=np.tile(packed_identity(width), (arms, 1)),
        rewards=np.zeros((arms, width)),
        weights=np.zeros((arms, width)),
        sums=np.zeros(2),
    )


@compiled
def forget(ridge: Ridge) -> None:
    """Make the model what it was before the first reward."""
    arms, width = ridge.rewards.shape[0], ridge.rewards.shape[1]
    for arm in range(arms):
        place = 0
        for i in range(width):
            ridge.rewards[arm, i], ridge.weights[arm, i] = 0.0, 0.0
            for k in range(width - i):
                ridge.inverse[arm, place + k] = 1.0 if k == 0 else 0.0
            place += width - i
    ridge.sums[REWARDS], ridge.sums[WEIGHTS] = 0.0, 0.0


@compiled
def copy_ridge(source: Ridge, target: Ridge) -> None:
    """Make a model what another one is."""
    for arm in range(source.rewards.shape[0]):
        for i in range(source.rewards.shape[1]):
            target.rewards[arm, i] = source.rewards[arm, i]
            target.weights[arm, i] = source.weights[arm, i]
        for k in range(source.inverse.shape[1]):
            target.inverse[arm, k] = source.inverse[arm, k]
    target.sums[REWARDS], target.sums[WEIGHTS] = source.sums[REWARDS], source.sums[WEIGHTS]


@compiled
def common_mean(ridge: Ridge) -> float:
    """Return m, the mean reward of all arms."""
    return float((0.5 + ridge.sums[REWARDS]) / (1.0 + ridge.sums[WEIGHTS]))


@compiled
def spread_of(mean: float) -> float:
    """Return sigma, the standard deviation of coins with the mean reward of all arms."""
    chance = min(max(mean, LEAST_MEAN), 1.0 - LEAST_MEAN)
    return math.sqrt(chance * (1.0 - chance))


@compiled_apart
def foretold(
    inverse: Floats, rewards: Floats, weights: Floats, mean: float, x: Floats
) -> tuple[float, float]:
    """Return f(x) and x'Px of one arm."""
    width = x.shape[0]
    above = np.empty(width)
    for i in range(width):
        above[i] = rewards[i] - mean * weights[i]
    square, mixed = forms(inverse, x, above)
    return mean + mixed, max(0.0, square)


@compiled
def learn(ridge: Ridge, arm: int, x: Floats, weight: float, reward: float) -> None:
    """Add so much weight to the observation of a play, and so much to its weight times reward.

    Both may be negative: a play whose silence counts less than before, or not at all any more.
    """
    if weight != 0.0:
        add_to_inverse(ridge.inverse[arm], x, weight)
    for i in range(x.shape[0]):
        ridge.rewards[arm, i] += reward * x[i]
        ridge.weights[arm, i] += weight * x[i]
    ridge.sums[REWARDS] += reward
    ridge.sums[WEIGHTS] += weight
