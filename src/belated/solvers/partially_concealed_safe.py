"""Safe solver for the partially concealed argmin: eq:frameworkprediction with eq:banditreg1, 2.

Stationarity gives p(i,g) = p1(i,g) exp(g (c - L(i,g) + x_i)) with x_i = 1/(eta q_i) and q_i the sum
of row i. With u = ln x_i and A_i(y) = ln sum_g p1(i,g) exp(g (y - L(i,g))), each arm solves
h(u) = A_i(c + e^u) + u + ln eta = 0, convex and increasing in u. The derivative of ln q_i in c is
m/(1 + m x_i), with m the mean of the rates under p(i, .)/q_i; it increases with c, so u is concave
in c and its tangents lie above it. Both levels use Newton's method from the right of the root.
"""

import math

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled_apart
from belated.solvers.multiplier import (
    MOST_STEPS,
    NOT_FOUND,
    advance,
    begin_search,
    finer_anchor,
    normalise,
)
from belated.solvers.rate_columns import spread_over_rates

NEARLY = 1e-9  # |h| from which one more Newton step is exact: it squares the error


@compiled_apart
def solve_partially_concealed_safely(
    losses: Floats,
    log_prior: Floats,
    log_weight: Floats,
    rates: Floats,
    eta: float,
    guess: Floats,
    p: Floats,
    q: Floats,
    dual: Floats,
) -> int:
    """Fill p and q with the argmin; returns the number of passes over the arms.

    Also fills dual = (c, u_1, ..., u_K), which is the `guess` for the next round. log_prior is
    ln pi, log_weight is ln w_j of eq:fullinfoprior, rates is the grid eq:banditgamma. A guess of
    infinities is a cold start; the guess affects the time but not the solution.
    """
    arms = losses.shape[0]
    for i in range(dual.shape[0]):
        dual[i] = guess[i]
    if arms == 1 or eta == 0.0:  # an infinitely strong barrier: its centre is the solution
        q[:] = 1.0 / arms
        for i in range(arms):
            for j in range(rates.shape[0]):
                p[i, j] = math.exp(log_weight[j]) / arms
        return 0
    anchor = losses.min()
    dual[0] -= anchor
    passes = solve_anchored(losses, log_prior, log_weight, rates, eta, anchor, p, q, dual)
    finer = finer_anchor(losses, rates, dual[0], anchor)
    if finer != anchor:
        dual[0] += anchor - finer
        anchor = finer
        passes += solve_anchored(losses, log_prior, log_weight, rates, eta, anchor, p, q, dual)
    dual[0] += anchor
    return passes


@compiled_apart
def solve_anchored(
    losses: Floats,
    log_prior: Floats,
    log_weight: Floats,
    rates: Floats,
    eta: float,
    anchor: float,
    p: Floats,
    q: Floats,
    dual: Floats,
) -> int:
    """Fill p, q and dual, with c and the losses measured from `anchor`; dual holds the guess."""
    arms = losses.shape[0]
    reach = np.empty(arms)  # here the first coordinate of the arm reaches 1
    for i in range(arms):
        reach[i] = np.inf
        for j in range(rates.shape[0]):
            bound = losses[i, j] - anchor - (log_prior[i] + log_weight[j]) / rates[j]
            reach[i] = min(reach[i], bound)
    ceiling = reach.min() - 1.0 / eta  # some q_i >= 1 here
    # slightly below the c at which the largest q_i is 1/K: the root if all losses are equal
    low = losses.min() - anchor - 1.000001 * (math.log(arms) / rates.min() + arms / eta)
    search = begin_search(dual[0], low, ceiling)
    slopes = np.empty(arms)  # of ln q_i in c
    for passes in range(1, MOST_STEPS):
        c, total, slope = search.c, 0.0, 0.0
        for i in range(arms):
            u, mean_rate = solve_arm(
                losses[i], anchor, log_prior[i], log_weight, rates, eta, c, reach[i], dual[1 + i]
            )
            dual[1 + i] = u
            q[i] = math.exp(-u) / eta
            total += q[i]
            slopes[i] = mean_rate / (1.0 + mean_rate * math.exp(u))
            slope += q[i] * slopes[i]
        search, over = advance(search, total, slope)
        if over:
            normalise(q)
            dual[0] = search.c
            for i in range(arms):
                y = search.c + math.exp(dual[1 + i])
                spread_over_rates(losses[i] - anchor, log_weight, rates, y, q[i], p[i])
            return passes
        for i in range(arms):
            dual[1 + i] -= slopes[i] * (search.c - c)
    raise ArithmeticError(NOT_FOUND)


@compiled_apart
def solve_arm(
    losses: Floats,
    anchor: float,
    log_prior: float,
    log_weight: Floats,
    rates: Floats,
    eta: float,
    c: float,
    reach: float,
    guess: float,
) -> tuple[float, float]:
    """The root u of h for one arm at a given c, and the mean of the rates under p(i, .)/q_i."""
    log_eta = math.log(eta)
    low = -np.inf
    high = math.log(reach - c + 1e-15 * (abs(reach) + abs(c)))  # h >= 0 here, also after rounding
    u = min(guess, high)
    h = np.inf
    for _ in range(MOST_STEPS):
        x = math.exp(u)
        largest = -np.inf  # subtracted from the exponents, which may be huge far from the root
        for j in range(rates.shape[0]):
            largest = max(largest, log_weight[j] + rates[j] * (c + x - (losses[j] - anchor)))
        total = 0.0
        weighted = 0.0
        for j in range(rates.shape[0]):
            exponent = log_weight[j] + rates[j] * (c + x - (losses[j] - anchor))
            term = math.exp(exponent - largest)
            total += term
            weighted += rates[j] * term
        mean_rate = weighted / total
        h, previous = log_prior + largest + math.log(total) + u + log_eta, h
        following = min(u - h / (1.0 + mean_rate * x), high)
        rounding = 1e-14 * mean_rate * (abs(c) + x)
        if abs(h) <= NEARLY or (abs(h) <= rounding and abs(h) >= 0.5 * abs(previous)):
            return following, mean_rate
        digit = 1e-15 * (1.0 + abs(u))
        if h > 0.0:
            high = u
            following = min(
                following, u - digit
            )  # a fast rate may dominate here and not at the root
        else:
            low = u
        if high - low <= digit or (h < 0.0 and following - u <= digit):
            return following, mean_rate
        u = following if following > low else 0.5 * (low + high)
    raise ArithmeticError("the weight of an arm was not found")


@compiled_apart
def solve_log_barrier(losses: Floats, eta: float, guess: float, q: Floats) -> tuple[float, int]:
    """Fill q with the argmin without eq:banditreg2: q_i = 1/(eta (L_i - c)); returns c, passes."""
    arms = losses.shape[0]
    if arms == 1 or eta == 0.0:
        q[:] = 1.0 / arms
        return guess, 0
    least = losses.min()
    ceiling = -1.0 / eta
    low = -1.000001 * arms / eta
    search = begin_search(guess - least, low, ceiling)
    for passes in range(1, MOST_STEPS):
        total = 0.0
        slope = 0.0
        for i in range(arms):
            q[i] = 1.0 / (eta * (losses[i] - least - search.c))
            total += q[i]
            slope += eta * q[i] * q[i]
        search, over = advance(search, total, slope)
        if over:
            normalise(q)
            return float(search.c + least), passes
    raise ArithmeticError(NOT_FOUND)
