"""The full-information argmin at speed: one pass over the arms, then a root of few exponentials.

As in `plain_full_information`, a shift of c by d multiplies the row of a rate by exp(rate d). So
the sums of the rows at any c are enough to find the root exactly, and the weights with it.

A weight changes by the factor exp(-rate (what has arrived)), which for some rounds is close to one:
so the weights of later rounds follow from those of an earlier one by a short polynomial.
"""

import math

import numpy as np

from belated.arrays import Floats
from belated.compiled.jit import compiled, inlined
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
NEARLY = 1e-9  # one more Newton step squares it, beyond the last digit
EXACT = 1e-15
FAR = 1.0  # rate times a shift beyond which a row may have lost its digits
NEAR = 0.125  # the largest exponent of a weight that is carried along


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
    """Fill q; returns the multiplier c and the passes, which are 0 if the guess is too far away.

    levels, offsets and fresh are those of `columns`, a row for each of the rates, the largest
    first. `rows` is working space of the same shape, sums and factors have one place for each.
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
    """Fill q from the weights of an earlier round and the losses that have arrived since.

    Returns the shift of c, the passes, which are 0 if too much has arrived, and the largest
    exponent. The new weights are the rows times their factors.
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
    """The weights of one rate at the old c; returns their sum and the largest exponent."""
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
    """The weights of one rate for the arms from i on."""
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
    """The weights at c, and the sum of each row."""
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
    """The weights of one rate at c; returns their sum."""
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
    """The weights of one rate for the arms from i on."""
    distance = c - loss(level, plain, weighed, rate, i, part)
    weight = exponential(fused(distance, rate, load(offset, i, -np.inf, part)))
    store(row, i, weight, part)
    return weight


@inlined
def add_rows(
    rows: Floats, rates: Floats, sums: Floats, shift: float, factors: Floats, q: Floats
) -> None:
    """q as the sum of the shifted rows, normalised."""
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
    """The same for the arms from i on."""
    sum_ = spread(0.0)
    for r in range(factors.shape[0]):
        sum_ = fused(load(rows[r], i, 0.0, part), factors[r], sum_)
    store(q, i, sum_, part)


@inlined
def root(sums: Floats, rates: Floats) -> float:
    """The d with sum_r sums_r exp(rates_r d) = 1, by Newton's method.

    The sum is log-convex in d: far from the root Newton is done on its logarithm.
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
