"""The calendar: what is due at the end of which round, in constant time however much is pending.

Slots wait in buckets: one for each of the next rounds, and one for each of the next turns, a turn
being as many rounds as there are buckets of the first kind. At the start of a turn its bucket is
shared out among its rounds, so each slot is moved once; what is due in more turns than there are
buckets for waits in one last list. The caller keeps what a slot stands for in arrays of its own,
under the slot's number.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.kernels.compile import compiled

Counts = NDArray[np.int64]

BITS = 12
TURN = 2**BITS  # rounds
TURNS = 2**12
LATER = TURN + TURNS  # the bucket of all that is due after these turns
NONE = -1
FREE, PENDING = 0, 1


class Calendar(NamedTuple):
    """Lists of slots: first and last slot of each bucket, the slot after each slot, its round.

    `marks` holds the first free slot and the number of pending slots.
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
        first=np.full(LATER + 1, NONE, dtype=np.int64),
        last=np.full(LATER + 1, NONE, dtype=np.int64),
        after=after,
        due=np.zeros(slots, dtype=np.int64),
        marks=np.zeros(2, dtype=np.int64),
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
    slot = int(calendar.marks[FREE])
    calendar.marks[FREE] = calendar.after[slot]
    calendar.marks[PENDING] += 1
    calendar.due[slot] = due
    place(calendar, now, slot)
    return slot


@compiled
def place(calendar: Calendar, now: int, slot: int) -> None:
    """Put a slot last in its bucket."""
    due = calendar.due[slot]
    if due - now < TURN:
        bucket = due & (TURN - 1)
    elif (due >> BITS) - (now >> BITS) < TURNS:
        bucket = TURN + ((due >> BITS) & (TURNS - 1))
    else:
        bucket = LATER
    calendar.after[slot] = NONE
    if calendar.first[bucket] == NONE:
        calendar.first[bucket] = slot
    else:
        calendar.after[calendar.last[bucket]] = slot
    calendar.last[bucket] = slot


@compiled
def begin_round(calendar: Calendar, now: int) -> None:
    """At the start of a turn, share out what is due in it."""
    if now & (TURN - 1) != 0:
        return
    turn = (now >> BITS) & (TURNS - 1)
    if turn == 0:
        share_out(calendar, now, LATER)
    share_out(calendar, now, TURN + turn)


@compiled
def share_out(calendar: Calendar, now: int, bucket: int) -> None:
    """Put every slot of a bucket where it belongs as seen from now."""
    slot = calendar.first[bucket]
    calendar.first[bucket] = NONE
    while slot != NONE:
        following = calendar.after[slot]
        place(calendar, now, slot)
        slot = following


@compiled
def take(calendar: Calendar, now: int) -> int:
    """The next slot that is due at the end of this round, now free again; NONE if there is none."""
    bucket = now & (TURN - 1)
    slot = calendar.first[bucket]
    if slot != NONE:
        calendar.first[bucket] = calendar.after[slot]
        calendar.after[slot] = calendar.marks[FREE]
        calendar.marks[FREE] = slot
        calendar.marks[PENDING] -= 1
    return int(slot)
