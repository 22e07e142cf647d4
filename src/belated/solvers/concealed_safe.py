"""Safe solver for the concealed argmin: eq:frameworkprediction, eq:regunknown1, eq:regunknown2.

The stationarity condition is ln(q)/gamma - 1/(2 eta sqrt(q)) = c - L. With a = gamma/(4 eta) and
z = gamma (L - c)/2 + ln a its solution is q = (a/w)^2 = exp(2 w - gamma (L - c)), where w is the
Wright omega function of z: w + ln w = z. The derivative of ln q in c is gamma/(1 + w), which
increases with c.
"""

import math

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled, compiled_apart
from belated.solvers.multiplier import MOST_STEPS, NOT_FOUND, advance, begin_search, normalise


@compiled_apart
def wright_omega(z: float) -> float:
    """w > 0 with w + ln w = z, by the fourth-order iteration of Fritsch, Shafer and Crowley."""
    if z < -40.0:
        return math.exp(z)
    w = z - math.log(z) if z > 1.0 else math.exp(z) / (1.0 + math.exp(z))
    for _ in range(6):
        residual = z - w - math.log(w)
        one = 1.0 + w
        shifted = 2.0 * one * (one + residual * (2.0 / 3.0))
        w *= 1.0 + residual / one * (shifted - residual) / (shifted - 2.0 * residual)
        if abs(residual) <= 1e-3 * one:  # the next error is of order residual^4
            break
    return w


@compiled_apart
def solve_concealed_safely(
    losses: Floats, eta: float, gamma: float, guess: float, q: Floats
) -> tuple[float, int]:
    """Fill q with the argmin; returns the multiplier c and the number of passes over the arms.

    c is the `guess` for the next round. A guess of infinity is a cold start, which begins at the c
    of equal losses; the guess affects the time but not the solution. gamma may be infinite (no
    entropy, pure Tsallis regularizer).
    """
    arms = losses.shape[0]
    if arms == 1:
        q[0] = 1.0
        return guess, 0
    least = np.inf
    for loss in losses:
        least = min(least, loss)
    ceiling = -1.0 / (2.0 * eta)  # the best arm has q = 1 here
    # slightly below the c at which the best arm has q = 1/K: the root if all losses are equal
    low = -1.000001 * (math.log(arms) / gamma + math.sqrt(arms) / (2.0 * eta))
    search = begin_search(guess - least if guess < np.inf else low, low, ceiling)
    for passes in range(1, MOST_STEPS):
        total, slope = fill_concealed(losses, least, eta, gamma, search.c, q)
        search, over = advance(search, total, slope)
        if over:
            normalise(q)
            return float(search.c + least), passes
    raise ArithmeticError(NOT_FOUND)


@compiled
def fill_concealed(
    losses: Floats, least: float, eta: float, gamma: float, c: float, q: Floats
) -> tuple[float, float]:
    """Fill q at the multiplier c, measured from `least`; returns sum q and its derivative in c."""
    total = 0.0
    slope = 0.0
    if gamma == np.inf:
        for i in range(losses.shape[0]):
            distance = losses[i] - least - c
            q[i] = 1.0 / (2.0 * eta * distance * (2.0 * eta * distance))
            total += q[i]
            slope += 2.0 * q[i] / distance
        return total, slope
    ratio = gamma / (4.0 * eta)
    log_ratio = math.log(ratio)
    for i in range(losses.shape[0]):
        exponent = gamma * (losses[i] - least - c)
        w = wright_omega(0.5 * exponent + log_ratio)
        # (a/w)^2 is inaccurate where w underflows, the exponential where w is large
        if w > 0.5:
            root = ratio / w
            q[i] = root * root
        else:
            q[i] = math.exp(2.0 * w - exponent)
        total += q[i]
        slope += gamma * q[i] / (1.0 + w)
    return total, slope
