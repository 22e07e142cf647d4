"""a * b + c rounded once, as processors compute it, for kernels that run as plain Python.

Python has such a function since 3.13 only. Before, the product is split into its rounded value and
its rounding error (Veltkamp and Dekker), and `math.fsum` adds up exactly and rounds once.
"""

import math
from collections.abc import Callable
from fractions import Fraction

SPLITTER = 134217729.0  # 2^27 + 1: multiplying by it cuts a double into two halves of 26 bits
LEAST, MOST = 1e-280, 1e280  # products between these have a rounding error that is a double


def by_halves(a: float, b: float, c: float) -> float:
    """a * b + c; where a product of halves might underflow or overflow, it is left to fractions."""
    product = a * b
    if not LEAST < abs(product) < MOST:
        return by_fractions(a, b, c)
    cut = SPLITTER * a
    a_high = cut - (cut - a)
    a_low = a - a_high
    cut = SPLITTER * b
    b_high = cut - (cut - b)
    b_low = b - b_high
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    result = math.fsum((product, error, c))
    return result if result == result else by_fractions(a, b, c)  # a NaN: a cut overflowed


def by_fractions(a: float, b: float, c: float) -> float:
    """a * b + c for any numbers, slowly."""
    if a == 0.0 or b == 0.0 or not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


multiply_add: Callable[[float, float, float], float] = getattr(math, "fma", by_halves)
