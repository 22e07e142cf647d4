"""ln Gamma(x) by the C library, as compiled code computes it.

`math.lgamma` of Python is an approximation of its own, with other last digits; compiled code calls
the C library in its place.
"""

import ctypes
import math
import os
from collections.abc import Callable


def of_the_c_library() -> Callable[[float], float]:
    """Return lgamma of the C library that Python runs on, or Python's own if it is not found."""
    try:
        library = ctypes.PyDLL("ucrtbase" if os.name == "nt" else None)
        function = library.lgamma
    except (OSError, AttributeError):
        return math.lgamma
    function.argtypes = [ctypes.c_double]
    function.restype = ctypes.c_double
    return function


_lgamma = of_the_c_library()


def log_gamma(x: float) -> float:
    """ln Gamma(x) for x > 0."""
    return _lgamma(x)
