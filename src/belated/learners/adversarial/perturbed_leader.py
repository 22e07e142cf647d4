"""Perturbed leaders: how likely each arm is to lead when its loss is perturbed at random.

An arm's value is Z(i) - eta (L(i) - min L), with Z(i) exponential, but cut off at B; the largest
value leads. In w = exp(-largest value) and a(i) = exp(-eta (L(i) - min L)), with b = exp(-B) and
c = 1 - b, the values below the largest have probability F(i) = min(1, (1 - w a(i)) / c) each, and

    q(i) = a(i)/c times the integral over w, from b / a(i) to 1, of the product of F(j), j != i.

Between two kinks b / a(i) this is a polynomial, which the rule of Gauss and Legendre integrates
exactly with half as many nodes as it has factors. If these are too many, as many are taken as the
product's decline asks for. The work grows with the square of the arms that can lead at all.
"""

import math

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled

MOST = 8  # nodes
NODES = np.zeros((MOST + 1, MOST))
WEIGHTS = np.zeros((MOST + 1, MOST))
for size in range(1, MOST + 1):
    abscissas, weights = np.polynomial.legendre.leggauss(size)
    NODES[size, :size] = 0.5 + 0.5 * abscissas
    WEIGHTS[size, :size] = 0.5 * weights
COUNTS = np.arange(MOST + 1)
# If a product falls by exp(-s) in a piece, n nodes integrate it with an error of (e s / 8n)^2n.
DECLINES = 8.0 * COUNTS / math.e * 10.0 ** (-6.5 / np.maximum(COUNTS, 1))
NEGLIGIBLE = 1e-17


@compiled
def weigh_perturbed(losses: Floats, order: Counts, eta: float, work: Floats, q: Floats) -> None:
    """Fill q, with exp(-B) = eta / K; `order` has the arms from the least loss to the largest.

    There are two arms or more, eta is below K, and work has two rows.
    """
    arms, scaled, sums = losses.shape[0], work[0], work[1]
    least, floor = losses[order[0]], eta / arms
    for k in range(arms):
        scaled[k] = math.exp(eta * (least - losses[order[k]]))
        sums[k] = 0.0
    low, active, left = floor, 0, 1.0
    while low < 1.0 and left > NEGLIGIBLE:
        while active < arms and floor / scaled[active] <= low:
            active += 1
        high = 1.0
        if active < arms:
            high = min(high, floor / scaled[active])
        count = (active + 1) // 2
        if count > MOST:
            count, high = enough(scaled, active, low, high)
        left = integrate(scaled, active, 1.0 - floor, low, high, count, sums)
        low = high
    share = 1.0 / sums.sum()
    for k in range(arms):
        q[order[k]] = sums[k] * share


@compiled
def enough(scaled: Floats, active: int, low: float, high: float) -> tuple[int, float]:
    """How many nodes will do from low to high, or to a lower end if MOST would not."""
    decline = 0.0
    for k in range(active):
        decline += scaled[k] / (1.0 - low * scaled[k])
    high = min(high, low + DECLINES[MOST] / decline)
    count = 1
    while count < MOST and decline * (high - low) > DECLINES[count]:
        count += 1
    return count, high


@compiled
def integrate(
    scaled: Floats, active: int, c: float, low: float, high: float, count: int, sums: Floats
) -> float:
    """Add the integrals from low to high; returns at least the probability of w above high."""
    product = 1.0
    for n in range(count):
        w = low + (high - low) * NODES[count, n]
        product = 1.0
        for k in range(active):
            product *= (1.0 - w * scaled[k]) / c
        mass = (high - low) * WEIGHTS[count, n] * product
        for k in range(active):
            sums[k] += mass * scaled[k] / (1.0 - w * scaled[k])
    return product
