"""The probability that each of several means, with Beta posteriors, is the largest.

P(theta_i is the largest) is the integral of f_i prod_{j != i} F_j over the log-odds, in which every
Beta density is smooth and falls off at both ends. No mean below the highest of the arms' lower ends
can be the largest, and at a distance u above that end only arms with a spread large enough to
reach it remain. The integration nodes can therefore lie further and further apart, and few are
needed even if the spreads are very unequal.
"""

import math

from belated.arrays import Floats
from belated.compiled.kernels import compiled, compiled_apart
from belated.numerics.lanes import LANES, exponential, load, store, whole
from belated.numerics.largest_chances import DENSITY, integrate
from belated.numerics.log_gamma import log_gamma

TAIL = 14.0  # the log-odds lie beyond an end with a probability of e^-14 or less
STEP = 0.2  # the step of the integration, in spreads
# The two ends of an arm with spread s are BROAD s + LONG s^2 apart.
BROAD, LONG = math.sqrt(8.0 * TAIL), TAIL
SUCCESSES, FAILURES, LOG_BETA = range(3)  # rows of the working space (`largest_chances`)


@compiled
def spread_of(a: float, b: float) -> float:
    """Return approximately the standard deviation of the log-odds under Beta(a, b)."""
    return math.sqrt(1.0 / a + 1.0 / b)


@compiled
def log_beta(a: float, b: float) -> float:
    """Return the logarithm of the Beta function at (a, b)."""
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)


@compiled
def lower_end(a: float, b: float) -> float:
    """Return the log-odds below which Beta(a, b) has a probability of about e^-TAIL."""
    return math.log(a / b) - (0.5 * BROAD * spread_of(a, b) + LONG / a)


@compiled
def upper_end(a: float, b: float) -> float:
    """Return the log-odds above which Beta(a, b) has a probability of about e^-TAIL."""
    return -lower_end(b, a)


@compiled
def note_densities(work: Floats, count: int, row: int, odds: float, spacing: float) -> None:
    """Store the densities of the first `count` arms at these log-odds, times the node spacing."""
    shared = math.log1p(math.exp(-abs(odds)))
    log_mean, log_rest = min(odds, 0.0) - shared, -max(odds, 0.0) - shared
    end = whole(work.shape[1])
    for k in range(0, min(count, end), LANES):
        note_some(work, k, row, log_mean, log_rest, spacing, False)
    if end < count:
        note_some(work, end, row, log_mean, log_rest, spacing, True)


@compiled
def note_some(
    work: Floats, k: int, row: int, log_mean: float, log_rest: float, spacing: float, part: bool
) -> None:
    """Store the densities of one group of arms, starting with arm k."""
    a, b = load(work[SUCCESSES], k, 1.0, part), load(work[FAILURES], k, 1.0, part)
    log_density = a * log_mean + b * log_rest - load(work[LOG_BETA], k, 0.0, part)
    store(work[row], k, exponential(log_density) * spacing, part)


@compiled_apart
def fill_chances(work: Floats, count: int, low: float, high: float, least: float) -> None:
    """Integrate from the upper end `high` down to `low`; `least` is the smallest spread.

    At a distance u above the lower end the nodes are STEP s apart, where u + c = BROAD s + LONG s^2
    and c is such that s is the smallest spread at u = 0. From node to node s therefore follows
    s' = s/(BROAD + 2 LONG s). This makes the spacing smooth, as the integration rule for evenly
    spaced nodes requires.
    """
    base = low - (BROAD + LONG * least) * least
    spread = (math.sqrt(BROAD * BROAD + 4.0 * LONG * (high - base)) - BROAD) / (2.0 * LONG)
    node, after = 0, 0
    while after < 3:
        odds = base + (BROAD + LONG * spread) * spread
        note_densities(work, count, DENSITY + node % 6, odds, STEP * spread)
        integrate(work, count, node)
        after += 1 if odds < low else 0
        node += 1
        spread = previous_spread(spread)


@compiled
def previous_spread(spread: float) -> float:
    """Take one Runge-Kutta step of s' = s/(BROAD + 2 LONG s) downwards."""
    one = slope(spread)
    two = slope(spread - 0.5 * STEP * one)
    three = slope(spread - 0.5 * STEP * two)
    four = slope(spread - STEP * three)
    return spread - STEP / 6.0 * (one + 2.0 * two + 2.0 * three + four)


@compiled
def slope(spread: float) -> float:
    """Return s/(BROAD + 2 LONG s), the derivative of the spread from node to node."""
    return spread / (BROAD + 2.0 * LONG * spread)
