"""Lanes: vectors of four doubles that one instruction works on, with the same digits everywhere.

A compiler vectorises a loop only if it can prove that the result stays the same, so it never
vectorises a sum, whose order it must keep. Here vectors are explicit: a `Lanes` value is one vector
register in compiled code (`belated.compiled.jit.lanes`) and four floats in plain Python
(`numerics.plain_lanes`), and supports the arithmetic of a float. Sums are added up in a fixed order
and the exponential is a polynomial, so that results do not depend on the machine's vector width or
mathematical library.
"""

from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import inlined
from belated.numerics.plain_lanes import (
    ROUNDER,
    fused,
    lane,
    larger,
    load_part,
    load_whole,
    magnitude,
    power_of_two,
    side_by_side,
    smaller,
    spread,
    store_part,
    store_whole,
    unless_below,
)

__all__ = [
    "LANES", "across", "decay", "exponential", "fused", "lane", "larger", "largest", "least_of",
    "load", "load_part", "load_whole", "magnitude", "power_of_two", "side_by_side", "smaller",
    "spread", "store", "store_part", "store_whole", "total", "unless_below", "whole",
]  # fmt: skip

Lanes = Any  # supports the arithmetic of a float

LANES = 4


@inlined
def load(array: Floats, i: int, fill: float, part: bool) -> Lanes:
    """The vector array[i : i + 4]; with `part`, lanes beyond the end of the array hold `fill`.

    A loop over an array loads whole vectors, and once more a part if entries are left. As `part` is
    a literal in each call, the compiler removes the branch from the loop.
    """
    if part:
        return load_part(array, i, fill)
    return load_whole(array, i)


@inlined
def store(array: Floats, i: int, x: Lanes, part: bool) -> None:
    """Store a vector as array[i : i + 4]; with `part`, lanes beyond the end are dropped."""
    if part:
        store_part(array, i, x)
    else:
        store_whole(array, i, x)


@inlined
def whole(size: int) -> int:
    """The largest multiple of four that is at most `size`: where the whole vectors end."""
    return size - size % LANES


@inlined
def across(x: Lanes) -> float:
    """The sum of the four numbers of a vector, in a fixed order."""
    return float((lane(x, 0) + lane(x, 2)) + (lane(x, 1) + lane(x, 3)))


@inlined
def largest(x: Lanes) -> float:
    """The largest of the four numbers of a vector."""
    return float(max(max(lane(x, 0), lane(x, 1)), max(lane(x, 2), lane(x, 3))))


LOG2_E = 1.4426950408889634
LN_2_HIGH, LN_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
LEAST, MOST = -708.0, 709.0  # e^x is subnormal below and infinite above
# (e^r - 1 - r)/r^2 on |r| <= ln(2)/2, fitted at Chebyshev points: relative error of e^r 2e-17
C0, C1, C2, C3, C4 = (
    0.5000000000000001,
    0.16666666666666669,
    0.04166666666662413,
    0.008333333333330062,
    0.0013888888917213717,
)
C5, C6, C7, C8, C9 = (
    0.00019841269863053618,
    2.4801521295954376e-05,
    2.7557268459997064e-06,
    2.7620088445409746e-07,
    2.510038549551032e-08,
)


@inlined
def exponential(x: Lanes) -> Lanes:
    """e^x within two units in the last place; zero for x < -708, and e^709 for x > 709."""
    z = smaller(larger(x, LEAST), MOST)
    rounded = fused(z, LOG2_E, ROUNDER)
    n = rounded - ROUNDER
    r = fused(n, -LN_2_LOW, fused(n, -LN_2_HIGH, z))
    r2 = r * r
    r4 = r2 * r2
    low = fused(fused(r, C3, C2), r2, fused(r, C1, C0))
    high = fused(fused(r, C7, C6), r2, fused(r, C5, C4))
    series = fused(fused(fused(r, C9, C8), r4, high), r4, low)
    value = (1.0 + fused(series, r2, r)) * power_of_two(rounded)
    return unless_below(value, x, LEAST)


# (1 - e^-x)/x on 0 <= x <= 1/8, a minimax fit: relative error of e^-x 5e-17
D0, D1, D2, D3 = (
    0.9999999999999687,
    -0.4999999999936777,
    0.16666666623310153,
    -0.04166665253953636,
)
D4, D5, D6 = 0.008333086596554547, -0.0013865133134883057, 0.00018648548533882508


@inlined
def decay(x: Lanes) -> Lanes:
    """e^-x for 0 <= x <= 1/8 within two units in the last place; invalid for any other x."""
    x2 = x * x
    high = fused(fused(x2, D6, fused(x, D5, D4)), x2, fused(x, D3, D2))
    return 1.0 - x * fused(high, x2, fused(x, D1, D0))


@inlined
def total(values: Floats) -> float:
    """The sum of an array, added up in four lanes in a fixed order."""
    sum_ = spread(0.0)
    end = whole(values.shape[0])
    for i in range(0, end, LANES):
        sum_ = sum_ + load_whole(values, i)
    if end < values.shape[0]:
        sum_ = sum_ + load_part(values, end, 0.0)
    return across(sum_)


@inlined
def least_of(values: Floats) -> float:
    """The smallest number of an array; infinity if it is empty."""
    found = spread(np.inf)
    end = whole(values.shape[0])
    for i in range(0, end, LANES):
        found = smaller(found, load_whole(values, i))
    if end < values.shape[0]:
        found = smaller(found, load_part(values, end, np.inf))
    return -largest(found * -1.0)
