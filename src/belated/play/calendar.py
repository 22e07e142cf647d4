"""The calendar: a queue of entries by the round in which they are due, in constant time per entry.

Entries wait in buckets: one for each round of the present turn, and one for each turn of the
present cycle. A turn has as many rounds, and a cycle as many turns, as there are buckets of that
kind. At the start of a turn the entries of its bucket are distributed over its rounds, so each
entry is moved once; entries that are due after this cycle wait in one last bucket. Entries that are
due together are taken in the order in which they were put. A bucket is a chain of chunks, and a
chunk is a few rows side by side, so that entries that are taken together lie together in memory.
"""

from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled

BITS = 12
TURN = 2**BITS  # rounds in a turn
CYCLE_BITS = BITS + 12
TURNS = 2 ** (CYCLE_BITS - BITS)
LATER = TURN + TURNS  # the bucket of entries that are due after this cycle
CHUNK_BITS = 4
CHUNK = 2**CHUNK_BITS  # rows in a chunk
NONE = -1
FREE, ROOM = 0, 1


class Calendar(NamedTuple):
    """A queue of entries by the round in which they are due.

    `first` is the first chunk of each bucket, `next` the bucket's next row to be filled, and
    `after` the chunk that follows each chunk. A next row that begins a chunk means that the last
    chunk is full, or that there is none, so chunk 0 is never used. `due` is the round in which a
    row is due while it waits for its turn; `rows` holds the caller's numbers. `marks` holds the
    first free chunk and how many are free.
    """

    first: Counts
    next: Counts
    after: Counts
    due: Counts
    rows: Floats
    marks: Counts


def empty_calendar(width: int) -> Calendar:
    """Make an empty calendar, without room yet, for entries of `width` numbers."""
    return Calendar(
        first=np.full(LATER + 1, NONE, dtype=np.int64),
        next=np.zeros(LATER + 1, dtype=np.int64),
        after=np.full(1, NONE, dtype=np.int64),
        due=np.empty(CHUNK, dtype=np.int64),
        rows=np.empty((CHUNK, width)),
        marks=np.array([NONE, 0], dtype=np.int64),
    )


def reserved(calendar: Calendar, count: int) -> Calendar:
    """Return the calendar with room for `count` more entries; present entries keep their rows.

    Each bucket has at most one chunk that it does not fill, and one more chunk is in use while a
    bucket is distributed.
    """
    old = calendar.after.size
    entries = count + (old - 1 - int(calendar.marks[ROOM])) * CHUNK  # an upper limit
    needed = min(entries, LATER + 1) + entries // CHUNK + 2
    if needed < old:
        return calendar
    chunks = max(needed + 1, 2 * old)
    after = np.concatenate([calendar.after, np.arange(old + 1, chunks + 1)])
    after[-1] = calendar.marks[FREE]
    rows = np.empty((chunks * CHUNK, calendar.rows.shape[1]))
    rows[: old * CHUNK] = calendar.rows
    due = np.empty(chunks * CHUNK, dtype=np.int64)
    due[: old * CHUNK] = calendar.due
    marks = np.array([old, calendar.marks[ROOM] + chunks - old])
    return calendar._replace(after=after, due=due, rows=rows, marks=marks)


@compiled
def put(calendar: Calendar, now: int, due: int) -> int:
    """Add an entry that is due at the end of the round `due`, and return its row.

    The calendar must have room for it.
    """
    if due >> BITS == now >> BITS:
        return append(calendar, due & (TURN - 1))
    bucket = LATER
    if due >> CYCLE_BITS == now >> CYCLE_BITS:
        bucket = TURN + ((due >> BITS) & (TURNS - 1))
    row = append(calendar, bucket)
    calendar.due[row] = due
    return row


@compiled
def append(calendar: Calendar, bucket: int) -> int:
    """Take the next row at the end of a bucket."""
    row = calendar.next[bucket]
    if row & (CHUNK - 1) == 0:
        row = begin_chunk(calendar, bucket) * CHUNK
    calendar.next[bucket] = row + 1
    return int(row)


@compiled
def begin_chunk(calendar: Calendar, bucket: int) -> int:
    """Take a free chunk and put it last in a bucket."""
    chunk = calendar.marks[FREE]
    calendar.marks[FREE] = calendar.after[chunk]
    calendar.marks[ROOM] -= 1
    calendar.after[chunk] = NONE
    if calendar.first[bucket] == NONE:
        calendar.first[bucket] = chunk
    else:
        calendar.after[(calendar.next[bucket] >> CHUNK_BITS) - 1] = chunk
    return int(chunk)


@compiled
def begin_round(calendar: Calendar, now: int) -> None:
    """At the start of a turn, distribute the entries that are due in it over its rounds."""
    if now & (TURN - 1) != 0:
        return
    turn = (now >> BITS) & (TURNS - 1)
    if turn == 0:
        share_out(calendar, now, LATER)
    share_out(calendar, now, TURN + turn)


@compiled
def share_out(calendar: Calendar, now: int, bucket: int) -> None:
    """Move every entry of a bucket to the bucket where it belongs now."""
    chunk, last = calendar.first[bucket], calendar.next[bucket]
    calendar.first[bucket] = NONE
    calendar.next[bucket] = 0
    while chunk != NONE:
        following = calendar.after[chunk]
        end = last if following == NONE else (chunk + 1) * CHUNK
        for old in range(chunk * CHUNK, end):
            row = put(calendar, now, int(calendar.due[old]))
            for part in range(calendar.rows.shape[1]):
                calendar.rows[row, part] = calendar.rows[old, part]
        release(calendar, chunk)
        chunk = following


@compiled
def release(calendar: Calendar, chunk: int) -> None:
    """Add a chunk to the free chunks."""
    calendar.after[chunk] = calendar.marks[FREE]
    calendar.marks[FREE] = chunk
    calendar.marks[ROOM] += 1


@compiled
def take(calendar: Calendar, now: int) -> tuple[int, int]:
    """Take the next rows that are due now; returns them as a range, empty if none are left.

    The rows are free from now on, so they must be read before another entry is put.
    """
    bucket = now & (TURN - 1)
    chunk = calendar.first[bucket]
    if chunk == NONE:
        return 0, 0
    following = calendar.after[chunk]
    end = (chunk + 1) * CHUNK
    if following == NONE:
        end = calendar.next[bucket]
        calendar.next[bucket] = 0
    calendar.first[bucket] = following
    release(calendar, chunk)
    return int(chunk * CHUNK), int(end)
