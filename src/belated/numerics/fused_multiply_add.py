"""a * b + c rounded once, as processors compute it, for kernels that run as plain Python.

Python has such a function only since 3.13. Before, it is that of the C library, and where there is
none, the sum is computed in fractions. All three are exact, so their results are equal.
"""

import ctypes
import math
import os
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import repeat

import numpy as np

from belated.arrays import Floats

MultiplyAdd = Callable[[float, float, float], float]


def by_fractions(a: float, b: float, c: float) -> float:
    """a * b + c, computed exactly and then rounded."""
    plain = a * b + c  # is right if a factor is zero or a number is not finite
    if a == 0.0 or b == 0.0 or not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return plain
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return plain
    try:
        return float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)


def of_the_c_library() -> MultiplyAdd | None:
    """Return the function of the C library that Python runs on, or None if it is not found."""
    try:
        library = ctypes.PyDLL("ucrtbase" if os.name == "nt" else None)  # keeps the GIL: it is quick
        function = library.fma
    except (OSError, AttributeError):
        return None
    function.argtypes = [ctypes.c_double] * 3
    function.restype = ctypes.c_double
    return function


multiply_add: MultiplyAdd = getattr(math, "fma", None) or of_the_c_library() or by_fractions


def multiply_add_lanes(a: Floats | float, b: Floats | float, c: Floats | float) -> Floats:
    """a * b + c lane by lane; at least one argument must be an array."""
    return np.array([*map(multiply_add, numbers(a), numbers(b), numbers(c))])


def numbers(x: Floats | float) -> Iterable[float]:
    """The numbers of an array, or one number over and over."""
    return x.tolist() if isinstance(x, np.ndarray) else repeat(x)
