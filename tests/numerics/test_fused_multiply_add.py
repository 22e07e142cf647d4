"""a * b + c rounded once: the quick way against the one by fractions, and both where it matters."""

import itertools
import math
import struct
from collections.abc import Callable

import numpy as np
import pytest

from belated.numerics.fused_multiply_add import by_fractions, by_halves

EXTREMES = [0.0, -0.0, 1.0, -1.0, 3.0, 1.0 + 2.0**-52, 5e-324, 2e-308, 1e-280, 1e-150]
EXTREMES += [1e280, 1e300, -1e300, 1.7976931348623157e308, math.inf, -math.inf, math.nan]


def bits(x: float) -> bytes:
    """The bits of a number; all NaN are one."""
    return b"NaN" if math.isnan(x) else struct.pack("d", x)


def test_both_ways_agree_at_the_extremes() -> None:
    """Zeros, the smallest and the largest numbers, infinities and NaN in all combinations."""
    for a, b, c in itertools.product(EXTREMES, repeat=3):
        assert bits(by_halves(a, b, c)) == bits(by_fractions(a, b, c)), (a, b, c)


def test_both_ways_agree_on_random_numbers() -> None:
    """Summands of all sizes, among them those that cancel the product but for its last digits."""
    rng = np.random.default_rng(5)
    for _ in range(5000):
        a, b, c = (rng.normal(size=3) * 2.0 ** rng.integers(-60, 60, 3)).tolist()
        for summand in (c, -a * b, -a * b * (1.0 + 2.0**-52)):
            assert by_halves(a, b, summand) == by_fractions(a, b, summand), (a, b, summand)


@pytest.mark.parametrize("way", [by_halves, by_fractions])
def test_the_product_is_not_rounded(way: Callable[[float, float, float], float]) -> None:
    """What the product loses in rounding is found again, and ties are decided by it."""
    last = 2.0**-52
    assert way(1.0 + last, 1.0 - last, -1.0) == -(last**2)
    assert way(1.0 + last, 2.0**-53, 1.0) == 1.0 + last  # a little more than half a digit
    assert way(1.0, 2.0**-53, 1.0) == 1.0  # exactly half a digit, to the even one
    assert way(1e308, 10.0, -1e308) == math.inf
    assert way(1e200, 1e200, -math.inf) == -math.inf
    assert way(5e-324, 0.5, 0.0) == 0.0
    assert math.copysign(1.0, way(-5e-324, 0.25, 0.0)) == -1.0
