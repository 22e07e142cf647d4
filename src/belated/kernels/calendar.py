"""The calendar: what is due at the end of which round, in constant time however much is pending.

A ring of buckets, one for each of the next rounds, holds lists of numbered slots; what is due
beyond the ring waits in one more list, which is looked through once in each turn of the ring. The
caller keeps what a slot stands for in arrays of its own, under the slot's number.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.kernels.compile import compiled

Counts = NDArray[np.int64]

RING = 2**12  # a power of two
NONE = -1
FREE, LATER, PENDING = 0, 1, 2


class Calendar(NamedTuple):
    """Lists of slots: first and last slot of each bucket, the slot after each slot, its round.

    `marks` holds the first free slot, the first slot of what waits for a later turn, and the
    number of pending slots.
    """

    first: Counts
    last: Counts
    after: Counts
    due: Counts
    marks: Counts


def empty_calendar(slots: int) -> Calendar:
    """A calendar with nothing in it."""
    after = np.arange(1, slots + 1)
    after[-1] = NONE
    return Calendar(
        first=np.full(RING, NONE, dtype=np.int64),
        last=np.full(RING, NONE, dtype=np.int64),
        after=after,
        due=np.zeros(slots, dtype=np.int64),
        marks=np.array([0, NONE, 0], dtype=np.int64),
    )


def enlarged(calendar: Calendar, slots: int) -> Calendar:
    """The same calendar with more slots; its old ones keep their numbers."""
    old = calendar.after.size
    after = np.concatenate([calendar.after, np.arange(old + 1, slots + 1)])
    after[-1] = calendar.marks[FREE]
    marks = calendar.marks.copy()
    marks[FREE] = old
    due = np.concatenate([calendar.due, np.zeros(slots - old, dtype=np.int64)])
    return Calendar(calendar.first, calendar.last, after, due, marks)


@compiled
def put(calendar: Calendar, now: int, due: int) -> int:
    """A slot that is due at the end of the round `due`; there must be a free one."""
    slot = calendar.marks[FREE]
    calendar.marks[FREE] = calendar.after[slot]
    calendar.marks[PENDING] += 1
    calendar.due[slot] = due
    if due - now < RING:
        append(calendar, slot)
    else:
        calendar.after[slot] = calendar.marks[LATER]
        calendar.marks[LATER] = slot
    return int(slot)


@compiled
def append(calendar: Calendar, slot: int) -> None:
    """Put a slot last in the bucket of its round."""
    bucket = calendar.due[slot] & (RING - 1)
    calendar.after[slot] = NONE
    if calendar.first[bucket] == NONE:
        calendar.first[bucket] = slot
    else:
        calendar.after[calendar.last[bucket]] = slot
    calendar.last[bucket] = slot


@compiled
def begin_round(calendar: Calendar, now: int) -> None:
    """At the start of each turn of the ring, move what is due in it into its buckets."""
    if now & (RING - 1) != 0:
        return
    slot = calendar.marks[LATER]
    calendar.marks[LATER] = NONE
    while slot != NONE:
        following = calendar.after[slot]
        if calendar.due[slot] - now < RING:
            append(calendar, slot)
        else:
            calendar.after[slot] = calendar.marks[LATER]
            calendar.marks[LATER] = slot
        slot = following


@compiled
def take(calendar: Calendar, now: int) -> int:
    """The next slot that is due at the end of this round, now free again; NONE if there is none."""
    bucket = now & (RING - 1)
    slot = calendar.first[bucket]
    if slot != NONE:
        calendar.first[bucket] = calendar.after[slot]
        calendar.after[slot] = calendar.marks[FREE]
        calendar.marks[FREE] = slot
        calendar.marks[PENDING] -= 1
    return int(slot)
