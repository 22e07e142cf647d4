"""Free slots: the places of a record that grows with what is outstanding.

An array holds the number of free slots, followed by these slots; the last of them is taken next.
"""

import numpy as np

from belated.arrays import Counts
from belated.compiled.kernels import compiled


def all_free(room: int) -> Counts:
    """Return the free slots of a record with so many slots, of which none is taken."""
    return np.concatenate(([room], np.arange(room, dtype=np.int64)))


def grown(free: Counts, room: int) -> Counts:
    """Return the free slots of the same record with more slots, `room` of them in all."""
    before, count = free.size - 1, int(free[0])
    larger = all_free(room)
    larger[0] = count + room - before
    larger[1 : 1 + count] = free[1 : 1 + count]
    larger[1 + count : 1 + count + room - before] = np.arange(before, room)
    return larger


@compiled
def take(free: Counts) -> int:
    """Take a free slot; there must be one."""
    slot = free[free[0]]
    free[0] -= 1
    return int(slot)


@compiled
def give_back(free: Counts, slot: int) -> None:
    """Make a slot free again."""
    free[0] += 1
    free[free[0]] = slot
