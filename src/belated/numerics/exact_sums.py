"""Sums that do not depend on the order of what is added up: a sum, and what its rounding lost."""

from belated.arrays import Floats
from belated.compiled.jit import compiled, inlined
from belated.numerics.lanes import LANES, Lanes, load_whole, store_whole


@compiled
def add_exactly(sums: Floats, arm: int, value: float) -> None:
    """Add to the two-row sum of an arm, keeping in the second row what the first rounds away."""
    before = sums[0, arm]
    after = before + value
    seen = after - before
    sums[1, arm] += (before - (after - seen)) + (value - seen)
    sums[0, arm] = after


@inlined
def add_lanes_exactly(sums: Floats, place: int, values: Lanes) -> None:
    """The same for lanes, whose sums and what these round away lie one behind the other."""
    before = load_whole(sums, place)
    after = before + values
    seen = after - before
    lost = (before - (after - seen)) + (values - seen)
    store_whole(sums, place + LANES, load_whole(sums, place + LANES) + lost)
    store_whole(sums, place, after)


@inlined
def lanes_sum(sums: Floats, place: int) -> Lanes:
    """Such sums, rounded once."""
    return load_whole(sums, place) + load_whole(sums, place + LANES)
