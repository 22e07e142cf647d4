"""The Tsallis argmin at speed: q in proportion to nothing but distance, one division an arm.

The minimiser of <q, H> - (1/eta) sum_i sqrt(q_i) is q_i = (b (h_i - y))^-2, where H = t h and
b = 2 eta t, at the one y below all h for which q sums to one. With x_i = b (h_i - min h) and
z = b (y - min h) that is q_i = (x_i - z)^-2, whatever the size of h or b: no digit is lost, and z
lies between -sqrt(K), where no arm has more than 1/K, and -1, where the least value alone has all.
The sum's inverse root is a concave function of z that falls, and linear for a single arm: Newton
from the right never leaves its side and needs few steps; from the last round's y, one or two.
"""

import math

import numpy as np

from belated.arrays import Floats
from belated.compiled.jit import compiled
from belated.numerics.lanes import LANES, Lanes, across, least_of, load, spread, store, whole

MOST_PASSES = 60
NEAR = 1e-7  # of the sum to one: a linear step squares it


@compiled
def solve_tsallis(values: Floats, b: float, guess: float, q: Floats) -> tuple[float, int]:
    """Fill q; returns y and the passes over the arms. Any guess will do, also an infinite one."""
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
    """From z to where the tangent of the sum's inverse root would make it one."""
    return sum_ * (1.0 - math.sqrt(sum_)) / slope


@compiled
def weights_at(values: Floats, least: float, b: float, z: float, q: Floats) -> tuple[float, float]:
    """Fill q for this z; returns its sum, and half of what the sum gains as z rises."""
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
    """The weights of the arms from i on, and their roots."""
    root = 1.0 / (b * (load(values, i, np.inf, part) - least) - z)
    weight = root * root
    store(q, i, weight, part)
    return weight, root
