"""Fast solver for the full-information argmin: one pass over the arms, then a root in c.

As in `full_information_safe`, a shift of c by d multiplies the row of a rate by exp(rate d). The
sums of the rows at any c are therefore enough to find the root exactly, and with it the weights.

A weight changes by the factor exp(-rate (arrived losses)), which stays close to one for some
rounds: the weights of these rounds follow from those of an earlier round by a short polynomial.
"""

import math

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled, inlined
from belated.numerics.lanes import (
    LANES,
    Lanes,
    across,
    decay,
    exponential,
    fused,
    larger,
    largest,
    load,
    spread,
    store,
    whole,
)
from belated.solvers.rate_columns import PLAIN, WEIGHED, arrivals, loss

MOST_PASSES = 8
MOST_STEPS = 50
NEARLY = 1e-9  # step from which Newton is exact: one more step squares it
EXACT = 1e-15
FAR = 1.0  # rate times shift above which a row may have lost digits
NEAR = 0.125  # largest exponent for which weights follow from an earlier round: that of `decay`


@compiled
def solve_full_information(
    levels: Floats,
    offsets: Floats,
    fresh: Floats,
    rates: Floats,
    guess: float,
    q: Floats,
    rows: Floats,
    sums: Floats,
    factors: Floats,
) -> tuple[float, int]:
    """Fill q with the full-information argmin; returns the multiplier c and the passes.

    The passes over the arms are 0 if the guess of c is too far away. levels, offsets and fresh are
    described in `rate_columns`; they have one row for each rate, the largest rate first. `rows`, of
    the shape of levels, and `sums` and `factors`, of the shape of rates, are work arrays.
    """
    c = guess
    for passes in range(1, MOST_PASSES):
        fill_rows(levels, offsets, fresh, rates, c, rows, sums)
        shift = root(sums, rates)
        if not abs(shift) < np.inf:
            break
        if abs(shift) * rates[0] <= FAR:
            add_rows(rows, rates, sums, shift, factors, q)
            return c + shift, passes
        c += shift
    return guess, 0


@compiled
def carry_full_information(
    weights: Floats,
    arrived: Floats,
    rates: Floats,
    q: Floats,
    rows: Floats,
    sums: Floats,
    factors: Floats,
) -> tuple[float, int, float]:
    """Fill q from the weights of an earlier round and the losses that have arrived since then.

    Returns the shift of c, the passes over the arms, which are 0 if the arrived losses are too
    large, and the largest exponent. The new weights are the rows times their factors.
    """
    most = 0.0
    for r in range(rates.shape[0]):
        rate = rates[r]
        sums[r], exponent = carry_row(weights[r], arrived[PLAIN], arrived[WEIGHED], rate, rows[r])
        most = max(most, exponent)
    shift = root(sums, rates)
    if not (most <= NEAR and abs(shift) * rates[0] <= FAR):
        return 0.0, 0, most
    add_rows(rows, rates, sums, shift, factors, q)
    return shift, 1, most


@inlined
def carry_row(
    weights: Floats, plain: Floats, weighed: Floats, rate: float, row: Floats
) -> tuple[float, float]:
    """Fill the row of one rate at the old c; returns its sum and the largest exponent."""
    sum_, most, end = spread(0.0), spread(0.0), whole(row.shape[0])
    for i in range(0, end, LANES):
        exponent = rate * arrivals(plain, weighed, rate, i, False)
        weight = carry(weights, exponent, row, i, False)
        sum_, most = sum_ + weight, larger(most, exponent)
    if end < row.shape[0]:
        exponent = rate * arrivals(plain, weighed, rate, end, True)
        weight = carry(weights, exponent, row, end, True)
        sum_, most = sum_ + weight, larger(most, exponent)
    return across(sum_), largest(most)


@inlined
def carry(weights: Floats, exponent: Lanes, row: Floats, i: int, part: bool) -> Lanes:
    """Store and return the old weights of four arms from i on, times exp(-exponent)."""
    weight = load(weights, i, 0.0, part) * decay(exponent)
    store(row, i, weight, part)
    return weight


@inlined
def fill_rows(
    levels: Floats,
    offsets: Floats,
    fresh: Floats,
    rates: Floats,
    c: float,
    rows: Floats,
    sums: Floats,
) -> None:
    """Fill the weights of all rates and arms at c, and the sum of each row."""
    for r in range(rates.shape[0]):
        sums[r] = fill_row(
            levels[r], offsets[r], fresh[PLAIN], fresh[WEIGHED], rates[r], c, rows[r]
        )


@inlined
def fill_row(
    level: Floats,
    offset: Floats,
    plain: Floats,
    weighed: Floats,
    rate: float,
    c: float,
    row: Floats,
) -> float:
    """Fill the weights of one rate at c; returns their sum."""
    sum_, end = spread(0.0), whole(row.shape[0])
    for i in range(0, end, LANES):
        sum_ = sum_ + weigh(level, offset, plain, weighed, rate, c, row, i, False)
    if end < row.shape[0]:
        sum_ = sum_ + weigh(level, offset, plain, weighed, rate, c, row, end, True)
    return across(sum_)


@inlined
def weigh(
    level: Floats,
    offset: Floats,
    plain: Floats,
    weighed: Floats,
    rate: float,
    c: float,
    row: Floats,
    i: int,
    part: bool,
) -> Lanes:
    """Store and return the weights of one rate for the four arms from i on."""
    distance = c - loss(level, plain, weighed, rate, i, part)
    weight = exponential(fused(distance, rate, load(offset, i, -np.inf, part)))
    store(row, i, weight, part)
    return weight


@inlined
def add_rows(
    rows: Floats, rates: Floats, sums: Floats, shift: float, factors: Floats, q: Floats
) -> None:
    """Fill q with the sum over the rates of the rows shifted by `shift`, and normalise it."""
    all_ = spread(0.0)
    for r in range(0, rates.shape[0], LANES):
        factor = exponential(load(rates, r, 0.0, True) * shift)
        all_ = fused(load(sums, r, 0.0, True), factor, all_)
        store(factors, r, factor, True)
    share = 1.0 / across(all_)
    for r in range(rates.shape[0]):
        factors[r] *= share
    end = whole(q.shape[0])
    for i in range(0, end, LANES):
        add_arms(rows, factors, q, i, False)
    if end < q.shape[0]:
        add_arms(rows, factors, q, end, True)


@inlined
def add_arms(rows: Floats, factors: Floats, q: Floats, i: int, part: bool) -> None:
    """Fill q of the four arms from i on: the sum of the rows times their factors."""
    sum_ = spread(0.0)
    for r in range(factors.shape[0]):
        sum_ = fused(load(rows[r], i, 0.0, part), factors[r], sum_)
    store(q, i, sum_, part)


@inlined
def root(sums: Floats, rates: Floats) -> float:
    """The d with sum_r sums_r exp(rates_r d) = 1, by Newton's method; infinity if none is found.

    The sum is log-convex in d: far from the root the method is applied to its logarithm.
    """
    d = 0.0
    for _ in range(MOST_STEPS):
        some, slopes = spread(0.0), spread(0.0)
        for r in range(0, rates.shape[0], LANES):
            rate = load(rates, r, 0.0, True)
            term = load(sums, r, 0.0, True) * exponential(rate * d)
            some = some + term
            slopes = fused(rate, term, slopes)
        total, slope = across(some), across(slopes)
        if not (total > 0.0 and total < np.inf and slope > 0.0):
            return np.inf
        near = abs(total - 1.0) <= 0.01
        step = (total - 1.0) / slope if near else math.log(total) * total / slope
        d -= step
        if abs(step) * rates[0] <= NEARLY or abs(total - 1.0) <= EXACT:
            break
    return d
