"""The probability that each of several independent normal values is the largest.

No value below the highest of the arms' lower ends, REACH standard deviations below their means, can
be the largest. At a distance u above that end only arms remain whose ends are further apart than u.
So the nodes of the integration lie further and further apart, in proportion to u plus the distance
between the ends of the narrowest arm. Few are needed even if the deviations are very unequal. The
probabilities are accurate to 3e-7; those below 1e-10 may be 0.
"""

import math

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled, compiled_apart
from belated.numerics.lanes import LANES, exponential, load, store, whole
from belated.numerics.largest_chances import CHANCE, DENSITY, SURVIVAL, WORK, integrate

REACH = 6.5  # a value lies further from its mean with a probability of 1e-10
BROAD = 2.0 * REACH  # the distance between the two ends of an arm, in deviations
STEP = 0.2  # the step of the integration, in deviations
CLOSER = 0.9847331232494916  # e^(-STEP/BROAD): the next nodes are so much closer
LEAST_DEVIATION = 1e-9  # and this share of the mean, or rounding would hide it
MEAN, PRECISION, HEIGHT = range(3)  # rows of the working space (`largest_chances`)


def working_space(arms: int) -> Floats:
    """Make the working space of the integration."""
    return np.zeros((WORK, arms))


@compiled
def fill_largest(
    means: Floats, deviations: Floats, eligible: Floats, work: Floats, q: Floats
) -> None:
    """Fill in the probability that the value of each eligible arm, N(mean, sd^2), is the largest.

    It is the integral of phi((z - f_a)/sd_a)/sd_a prod_{c != a} Phi((z - f_c)/sd_c) over z.
    """
    low, high, least, count = -np.inf, -np.inf, np.inf, 0
    for i in range(q.shape[0]):
        if eligible[i] > 0.0:
            low = max(low, means[i] - REACH * floored(deviations[i], means[i]))
    for i in range(q.shape[0]):
        deviation = floored(deviations[i], means[i])
        q[i] = 0.0
        if eligible[i] > 0.0 and means[i] + REACH * deviation > low:
            work[MEAN, count], work[PRECISION, count] = means[i], 1.0 / deviation
            work[HEIGHT, count] = 1.0 / (deviation * math.sqrt(2.0 * math.pi))
            for row in range(SURVIVAL, WORK):
                work[row, count] = 0.0
            high, least = max(high, means[i] + REACH * deviation), min(least, deviation)
            q[i] = 1.0
            count += 1
    integrate_down(work, count, low, high, least)
    share_out(work, q)


@compiled
def floored(deviation: float, mean: float) -> float:
    """Return a deviation that is not too small beside its mean."""
    return max(deviation, LEAST_DEVIATION * max(1.0, abs(mean)))


@compiled
def share_out(work: Floats, q: Floats) -> None:
    """Fill q with the chances of the arms that may be the largest, scaled to sum to one."""
    sum_, place = 0.0, 0
    for i in range(q.shape[0]):
        if q[i] > 0.0:
            q[i] = max(0.0, work[CHANCE, place])
            sum_ += q[i]
            place += 1
    for i in range(q.shape[0]):
        q[i] /= sum_


@compiled_apart
def integrate_down(work: Floats, count: int, low: float, high: float, least: float) -> None:
    """Integrate from the upper end `high` down to `low`; `least` is the smallest deviation.

    At a distance u above the lower end the nodes are STEP s apart, with BROAD s = u + BROAD least;
    from node to node s shrinks by the factor e^(-STEP/BROAD), which makes the spacing smooth.
    It ends at once where there are no numbers.
    """
    base = low - BROAD * least
    spread = (high - base) / BROAD
    node, after = 0, 0
    while after < 3 and spread < np.inf:
        value = base + BROAD * spread
        note_densities(work, count, DENSITY + node % 6, value, STEP * spread)
        integrate(work, count, node)
        after += 1 if value < low else 0
        node += 1
        spread *= CLOSER


@compiled
def note_densities(work: Floats, count: int, row: int, value: float, spacing: float) -> None:
    """Store the densities of the first `count` arms at this value, times the node spacing."""
    end = whole(work.shape[1])
    for k in range(0, min(count, end), LANES):
        note_some(work, k, row, value, spacing, False)
    if end < count:
        note_some(work, end, row, value, spacing, True)


@compiled
def note_some(work: Floats, k: int, row: int, value: float, spacing: float, part: bool) -> None:
    """Store the densities of one group of arms, starting with arm k."""
    away = (value - load(work[MEAN], k, 0.0, part)) * load(work[PRECISION], k, 0.0, part)
    height = load(work[HEIGHT], k, 0.0, part)
    store(work[row], k, exponential(away * away * -0.5) * (height * spacing), part)
