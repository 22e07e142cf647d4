"""Sums that do not depend on the order of what is added up: a sum, and what its rounding lost."""

import numpy as np
from numpy.typing import NDArray

from belated.kernels.compile import compiled

Floats = NDArray[np.float64]


@compiled
def add_exactly(sums: Floats, arm: int, value: float) -> None:
    """Add to the two-row sum of an arm, keeping in the second row what the first rounds away."""
    before = sums[0, arm]
    after = before + value
    seen = after - before
    sums[1, arm] += (before - (after - seen)) + (value - seen)
    sums[0, arm] = after
