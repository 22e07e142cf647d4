"""Running sums that carry their rounding error, so that the order of the terms does not matter.

Each sum is a pair of doubles: the rounded sum and the rounding errors made so far (TwoSum).
"""

from belated.arrays import Floats
from belated.compiled.kernels import compiled, inlined
from belated.numerics.lanes import LANES, Lanes, load_whole, store_whole


@compiled
def add_exactly(sums: Floats, arm: int, value: float) -> None:
    """Add a value to the sum of an arm; row 0 holds the sums, row 1 their rounding errors."""
    before = sums[0, arm]
    after = before + value
    seen = after - before
    sums[1, arm] += (before - (after - seen)) + (value - seen)
    sums[0, arm] = after


@inlined
def add_lanes_exactly(sums: Floats, place: int, values: Lanes) -> None:
    """Add four values to four sums at once.

    The sums are at `place`, their rounding errors in the next four places.
    """
    before = load_whole(sums, place)
    after = before + values
    seen = after - before
    lost = (before - (after - seen)) + (values - seen)
    store_whole(sums, place + LANES, load_whole(sums, place + LANES) + lost)
    store_whole(sums, place, after)


@inlined
def lanes_sum(sums: Floats, place: int) -> Lanes:
    """Four sums kept by `add_lanes_exactly` at `place`, each with its rounding error added."""
    return load_whole(sums, place) + load_whole(sums, place + LANES)
