"""Perturbed leaders: the probability that each arm leads when its loss is perturbed at random.

The value of arm i is Z(i) - eta (L(i) - min L), where Z(i) has an exponential law truncated at B,
and the arm of the largest value leads. Let w = exp(-largest value), b = exp(-B), c = 1 - b and
a(i) = exp(-eta (L(i) - min L)). Then the value of arm i is below the largest one with probability
F(i) = min(1, (1 - w a(i)) / c), and

    q(i) = a(i)/c times the integral over w, from b / a(i) to 1, of the product of F(j), j != i.

Between two kinks b / a(i) the integrand is a polynomial, which Gauss-Legendre quadrature integrates
exactly with half as many nodes as it has factors. If that is more than MOST nodes, the number of
nodes is chosen by how fast the product falls. The work grows with the square of the number of arms
that can lead.
"""

import math

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.numerics.gauss_legendre import MOST, NODES, WEIGHTS
from belated.numerics.ordered_sums import sum_in_order

# If a product falls by exp(-s) in a piece, n nodes integrate it with an error of (e s / 8n)^2n.
# These are the s, by n, for which that is 1e-13: 8n/e 10^(-6.5/n), written out like the nodes.
DECLINES = np.array(
    (
        0.0,
        9.306695507613436e-07,
        0.003309980999338143,
        0.06015200295349886,
        0.2791614827671879,
        0.7375059177162481,
        1.457516306001448,
        2.4284105811744174,
        3.625646783051817,
    )
)
NEGLIGIBLE = 1e-17


@compiled
def weigh_perturbed(losses: Floats, order: Counts, eta: float, work: Floats, q: Floats) -> None:
    """Fill q with the probability that each arm leads, for perturbations with exp(-B) = eta / K.

    `order` has the arms from the smallest loss to the largest. There must be at least two arms, eta
    must be below K, and `work` has two rows.
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
    share = 1.0 / sum_in_order(sums)
    for k in range(arms):
        q[order[k]] = sums[k] * share


@compiled
def weigh_exponentially_perturbed(losses: Floats, eta: float, work: Floats, q: Floats) -> None:
    """Fill q with the probability that each arm leads, for perturbations that are not truncated.

    B is infinite then, so that b = 0 and c = 1, and there are no kinks. There must be at least two
    arms, and `work` has two rows.
    """
    arms, scaled, sums = losses.shape[0], work[0], work[1]
    least = losses.min()
    for i in range(arms):
        scaled[i] = math.exp(eta * (least - losses[i]))
        sums[i] = 0.0
    low, left = 0.0, 1.0
    while low < 1.0 and left > NEGLIGIBLE:
        count, high = (arms + 1) // 2, 1.0
        if count > MOST:
            count, high = enough(scaled, arms, low, high)
        left = integrate(scaled, arms, 1.0, low, high, count, sums)
        low = high
    share = 1.0 / sum_in_order(sums)
    for i in range(arms):
        q[i] = sums[i] * share


@compiled
def enough(scaled: Floats, active: int, low: float, high: float) -> tuple[int, float]:
    """Return how many nodes are enough from low to high, and an end high that MOST can reach."""
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
    """Add the integrals from low to high to sums.

    The return value is an upper bound on the probability that w is above high.
    """
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
