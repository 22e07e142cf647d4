"""Sums that are added up from the first number to the last.

`array.sum()` of numpy adds in pairs and that of numba in order, so they round differently.
"""

from belated.arrays import Floats
from belated.compiled.kernels import compiled


@compiled
def sum_in_order(values: Floats) -> float:
    """The sum of an array, added up from its first number to its last."""
    sum_ = 0.0
    for value in values:
        sum_ += value
    return sum_
