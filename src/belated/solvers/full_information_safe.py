"""Safe solver for the full-information argmin: eq:frameworkprediction with eq:fullinforeg.

Stationarity gives p(i,j) = p1(i,j) exp(eta_j (c - L(i,j))), with the number c for which p sums to
one. A shift of c by d multiplies column j by exp(eta_j d). So, given the column sums at any c, the
shift is the root of a sum of J exponentials. One pass over the K x J coordinates finds it, unless
it is so far away that coordinates have underflowed.
"""

import math

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled, compiled_apart
from belated.solvers.multiplier import MOST_STEPS, NOT_FOUND, exhausted, finer_anchor, normalise


@compiled_apart
def solve_full_information_safely(
    losses: Floats, log_prior: Floats, log_weight: Floats, rates: Floats, guess: float, p: Floats
) -> tuple[float, int]:
    """Fill p with the argmin; returns the multiplier c and the number of passes over the arms.

    log_prior is ln pi, log_weight is ln w_j of eq:fullinfoprior. c is the `guess` for the next
    round. A guess of infinity is a cold start; the guess affects the time but not the solution.
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
    """Fill p with the argmin; c and the losses are measured from `anchor`. Returns c and passes."""
    arms, grid = losses.shape
    ceiling = np.inf  # here the first coordinate reaches 1; all exponents are <= 0 below it
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
        rounded = step > 0.0 and c == ceiling  # the root is at most the ceiling, up to rounding
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

    The logarithm of the sum is convex and increasing in d, so Newton's method from a point right of
    the root moves left, towards it, in every step.
    """
    logs = np.empty(sums.shape[0])
    d = np.inf
    for j in range(sums.shape[0]):
        logs[j] = math.log(sums[j]) if sums[j] != 0.0 else -np.inf
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
