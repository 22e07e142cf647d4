"""Solver for the argmin with the Tsallis regularizer alone, at the cost of one division per arm.

The minimiser of <q, H> - (1/eta) sum_i sqrt(q_i) is q_i = (b (h_i - y))^-2, where H = t h and
b = 2 eta t, at the unique y below all h for which q sums to one. With x_i = b (h_i - min h) and
z = b (y - min h) this is q_i = (x_i - z)^-2, which loses no digits, whatever the size of h or b. z
is between -sqrt(K), where no arm has more than 1/K, and -1, where the smallest value alone has all
the weight. The inverse root of the sum is a concave and decreasing function of z, and linear for a
single arm. So Newton's method from the right stays right of the root and needs few steps; from the
y of the last round it needs one or two.
"""

import math

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.numerics.lanes import LANES, Lanes, across, least_of, load, spread, store, whole

MOST_PASSES = 60
NEAR = 1e-7  # |sum - 1| from which one linear step is enough: it squares the error


@compiled
def solve_tsallis(values: Floats, b: float, guess: float, q: Floats) -> tuple[float, int]:
    """Fill q with the argmin; returns y and the passes over the arms.

    The guess of y affects the time but not the solution; it may be infinite.
    """
    least = least_of(values)
    z = b * (guess - least)
    z = max(min(z, -1.0), -math.sqrt(values.shape[0])) if math.isfinite(z) else -1.0
    sum_, slope = weights_at(values, least, b, z, q)
    passes = 1
    while abs(sum_ - 1.0) > NEAR and passes < MOST_PASSES:
        z = min(z + newton_step(sum_, slope), -1.0)
        sum_, slope = weights_at(values, least, b, z, q)
        passes += 1
    step = newton_step(sum_, slope)
    sum_ = 0.0
    for i in range(q.shape[0]):
        q[i] += 2.0 * step * (q[i] * math.sqrt(q[i]))
        sum_ += q[i]
    scale = 1.0 / sum_
    for i in range(q.shape[0]):
        q[i] *= scale
    return least + (z + step) / b, passes


@compiled
def newton_step(sum_: float, slope: float) -> float:
    """The Newton step of z for 1/sqrt(sum) = 1."""
    return sum_ * (1.0 - math.sqrt(sum_)) / slope


@compiled
def weights_at(values: Floats, least: float, b: float, z: float, q: Floats) -> tuple[float, float]:
    """Fill q at z; returns its sum and half of the derivative of the sum in z."""
    sum_, slope, end = spread(0.0), spread(0.0), whole(values.shape[0])
    for i in range(0, end, LANES):
        weight, root = weigh(values, least, b, z, q, i, False)
        sum_, slope = sum_ + weight, slope + weight * root
    if end < values.shape[0]:
        weight, root = weigh(values, least, b, z, q, end, True)
        sum_, slope = sum_ + weight, slope + weight * root
    return across(sum_), across(slope)


@compiled
def weigh(
    values: Floats, least: float, b: float, z: float, q: Floats, i: int, part: bool
) -> tuple[Lanes, Lanes]:
    """Store and return the weights of the four arms from i on, and return their square roots."""
    root = 1.0 / (b * (load(values, i, np.inf, part) - least) - z)
    weight = root * root
    store(q, i, weight, part)
    return weight, root
