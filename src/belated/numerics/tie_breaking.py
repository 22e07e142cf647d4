"""Tie breaking: weight is shared evenly among tied arms, so that their order does not matter."""

from belated.arrays import Floats
from belated.compiled.kernels import compiled


@compiled
def share_among_largest(values: Floats, q: Floats) -> None:
    """Fill q with 1/n for the n arms with the largest value, 0 for the others; no value is NaN."""
    largest, count = values[0], 0
    for value in values:
        if value > largest:
            largest, count = value, 1
        elif value == largest:
            count += 1
    for i in range(q.shape[0]):
        q[i] = 1.0 / count if values[i] == largest else 0.0
