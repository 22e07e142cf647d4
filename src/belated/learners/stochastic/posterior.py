"""How probable it is that each of several means, with Beta posteriors, is the largest.

P(theta_i is the largest) is the integral of f_i prod_{j != i} F_j, taken in log-odds, where every
Beta density is smooth and falls off at both ends. Below the highest lower end of an arm nothing is
the largest; and at a distance u above it only arms of a spread that reaches so far are left. Nodes
may therefore lie ever further apart, and few are needed however unequal the spreads are.
"""

import math

from belated.arrays import Floats
from belated.compiled.jit import compiled, compiled_apart, inlined
from belated.numerics.lanes import LANES, Lanes, exponential, larger, load, store, whole

TAIL = 14.0  # what lies beyond an end has probability e^-14 or less
STEP = 0.2  # of the integration, in spreads
BROAD, LONG = math.sqrt(8.0 * TAIL), TAIL  # both ends are BROAD s + LONG s^2 apart, s the spread
LEAST = 1e-30
NEAR, FAR, OUTER = 802.0 / 1440.0, 93.0 / 1440.0, 11.0 / 1440.0

# rows of the working space: the arms that may be the largest, and the last six densities of each
SUCCESSES, FAILURES, LOG_BETA, SURVIVAL, BELOW, CHANCE, DENSITY, WORK = 0, 1, 2, 3, 4, 5, 6, 12


@compiled
def spread_of(a: float, b: float) -> float:
    """About the standard deviation of the log-odds under Beta(a, b)."""
    return math.sqrt(1.0 / a + 1.0 / b)


@compiled
def log_beta(a: float, b: float) -> float:
    """The logarithm of the Beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@compiled
def lower_end(a: float, b: float) -> float:
    """Log-odds that are smaller only with a probability of about e^-TAIL."""
    return math.log(a / b) - (0.5 * BROAD * spread_of(a, b) + LONG / a)


@compiled
def upper_end(a: float, b: float) -> float:
    """Log-odds that are larger only with a probability of about e^-TAIL."""
    return -lower_end(b, a)


@compiled
def note_densities(work: Floats, count: int, row: int, odds: float, spacing: float) -> None:
    """The densities of the first arms at these log-odds, times the spacing of the nodes there."""
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
    """The densities of the arms from k on."""
    a, b = load(work[SUCCESSES], k, 1.0, part), load(work[FAILURES], k, 1.0, part)
    log_density = a * log_mean + b * log_rest - load(work[LOG_BETA], k, 0.0, part)
    store(work[row], k, exponential(log_density) * spacing, part)


@compiled
def integrate(work: Floats, count: int, node: int) -> None:
    """Go on to the node two before this one: its survivals, and what it adds to the chances."""
    end, product = whole(work.shape[1]), 1.0
    for k in range(0, min(count, end), LANES):
        advance_some(work, k, node, False)
    if end < count:
        advance_some(work, end, node, True)
    for k in range(count):
        product *= work[BELOW, k]
    row = DENSITY + (node + 4) % 6
    for k in range(count):
        work[CHANCE, k] += work[row, k] * (product / work[BELOW, k])


@compiled
def advance_some(work: Floats, k: int, node: int, part: bool) -> None:
    """The survivals of the arms from k on, and the probabilities to lie below.

    The integral between two nodes is taken from six of them, with an error of seventh order.
    """
    outer = density(work, k, node, 1, part) + density(work, k, node, 0, part)
    far = density(work, k, node, 2, part) + density(work, k, node, 5, part)
    near = density(work, k, node, 3, part) + density(work, k, node, 4, part)
    between = near * NEAR - far * FAR + outer * OUTER
    survival = load(work[SURVIVAL], k, 0.0, part) + between
    store(work[SURVIVAL], k, survival, part)
    store(work[BELOW], k, larger(1.0 - survival, LEAST), part)


@inlined
def density(work: Floats, k: int, node: int, place: int, part: bool) -> Lanes:
    """The densities of the arms from k on at one of the last six nodes, 1 being the oldest."""
    return load(work[DENSITY + (node + place) % 6], k, 0.0, part)


@compiled_apart
def fill_chances(work: Floats, count: int, low: float, high: float, least: float) -> None:
    """Integrate from the upper end down to the lower one, `least` being the least spread.

    At a distance u above the lower end nodes are STEP s apart, with u + c = BROAD s + LONG s^2 and
    c such that s is the least spread at u = 0. From node to node s thus follows s' = s/(BROAD + 2
    LONG s), and the spacing is smooth, as the rule for evenly spaced nodes needs it.
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
    """One step of s' = s/(BROAD + 2 LONG s) downwards, by the method of Runge and Kutta."""
    one = slope(spread)
    two = slope(spread - 0.5 * STEP * one)
    three = slope(spread - 0.5 * STEP * two)
    four = slope(spread - STEP * three)
    return spread - STEP / 6.0 * (one + 2.0 * two + 2.0 * three + four)


@compiled
def slope(spread: float) -> float:
    """s/(BROAD + 2 LONG s)."""
    return spread / (BROAD + 2.0 * LONG * spread)
