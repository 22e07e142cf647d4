"""The full-information argmin, the plain way: eq:frameworkprediction with eq:fullinforeg.

Stationarity gives p(i,j) = p1(i,j) exp(eta_j (c - L(i,j))), with the one number c that makes p sum
to one. A shift of c by d multiplies column j by exp(eta_j d), so once the column sums are known at
any c the root is that of a sum of only J exponentials: one pass over the K x J coordinates finds
it, unless it lies so far away that coordinates had underflowed.
"""

import math

import numpy as np

from belated.arrays import Floats
from belated.compiled.jit import compiled, compiled_apart
from belated.solvers.multiplier import MOST_STEPS, NOT_FOUND, exhausted, finer_anchor, normalise


@compiled_apart
def solve_full_information_safely(
    losses: Floats, log_prior: Floats, log_weight: Floats, rates: Floats, guess: float, p: Floats
) -> tuple[float, int]:
    """Fill p with the argmin; returns the multiplier c, the next `guess`, and the passes it took.

    log_prior is ln pi, log_weight is ln w_j of eq:fullinfoprior. A guess of infinity is a cold
    start; any other value only saves time.
    """
    anchor = losses.min()
    c, passes = solve_anchored(losses, log_prior, log_weight, rates, anchor, guess - anchor, p)
    finer = finer_anchor(losses, rates, c, anchor)
    if finer != anchor:
        c += anchor - finer
        anchor = finer
        c, more = solve_anchored(losses, log_prior, log_weight, rates, anchor, c, p)
        passes += more
    return float(c + anchor), passes


@compiled_apart
def solve_anchored(
    losses: Floats,
    log_prior: Floats,
    log_weight: Floats,
    rates: Floats,
    anchor: float,
    guess: float,
    p: Floats,
) -> tuple[float, int]:
    """The argmin with c and all losses measured from the anchor."""
    arms, grid = losses.shape
    ceiling = np.inf  # where the first coordinate reaches 1: every exponent left of it is <= 0
    for i in range(arms):
        for j in range(grid):
            bound = losses[i, j] - anchor - (log_prior[i] + log_weight[j]) / rates[j]
            ceiling = min(ceiling, bound)
    c = min(guess, ceiling)
    columns = np.empty(grid)
    fastest = rates.max()
    step = 0.0
    for passes in range(1, MOST_STEPS):  # noqa: B007 (it is returned)
        columns[:] = 0.0
        for i in range(arms):
            for j in range(grid):
                exponent = log_prior[i] + log_weight[j] + rates[j] * (c - (losses[i, j] - anchor))
                p[i, j] = math.exp(exponent)
                columns[j] += p[i, j]
        step = root_of_exponential_sum(columns, rates)
        rounded = step > 0.0 and c == ceiling  # the root lies left of the ceiling, up to rounding
        if abs(step) * fastest <= 1.0 or rounded:
            break
        c = min(c + step, ceiling)
    else:
        raise ArithmeticError(NOT_FOUND)
    for j in range(grid):
        growth = math.exp(rates[j] * step)
        for i in range(arms):
            p[i, j] *= growth
    normalise(p)
    return c + step, passes


@compiled
def root_of_exponential_sum(sums: Floats, rates: Floats) -> float:
    """The d with sum_j sums_j exp(rates_j d) = 1; infinity if all sums are zero.

    The logarithm of the sum is convex and increasing in d, so Newton from a point right of the
    root only ever moves left, towards it.
    """
    logs = np.empty(sums.shape[0])
    d = np.inf
    for j in range(sums.shape[0]):
        logs[j] = math.log(sums[j])
        d = min(d, -logs[j] / rates[j])
    if d == np.inf:
        return np.inf
    value = np.inf
    for _ in range(MOST_STEPS):
        total = 0.0
        slope = 0.0
        for j in range(sums.shape[0]):
            term = math.exp(logs[j] + rates[j] * d)
            total += term
            slope += rates[j] * term
        value, previous = math.log(total), value
        d -= value * total / slope
        if exhausted(value, previous):
            break
    else:
        raise ArithmeticError("the root of a sum of exponentials was not found")
    return float(d)
