"""Queues of rewards, one for each arm, as linked lists in shared arrays.

A queue is sorted by the round of arrival, and rewards that arrive at the end of the same round are
sorted by the round of play. The order in which they are reported therefore makes no difference.
"""

from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled

NOWHERE = -1
FIRST_ROOM = 8


class Queues(NamedTuple):
    """All queues: each place holds a reward, the round of its play and the index of the next place.

    `free` is the first unused place. For each arm, `first` and `last` are the ends of its queue;
    `latest` is the round in which a reward last arrived, and `settled` the last place that was in
    the queue before that round's rewards. `due` counts the rewards queued or still to arrive.
    """

    reward: Floats
    played: Counts
    next: Counts
    free: Counts
    first: Counts
    last: Counts
    settled: Counts
    latest: Counts
    due: Counts


def empty_queues(arms: int) -> Queues:
    """Return the queues before the first reward."""
    return Queues(
        reward=np.zeros(FIRST_ROOM),
        played=np.zeros(FIRST_ROOM, dtype=np.int64),
        next=_chained(0, FIRST_ROOM, NOWHERE),
        free=np.zeros(1, dtype=np.int64),
        first=np.full(arms, NOWHERE, dtype=np.int64),
        last=np.full(arms, NOWHERE, dtype=np.int64),
        settled=np.full(arms, NOWHERE, dtype=np.int64),
        latest=np.zeros(arms, dtype=np.int64),
        due=np.zeros(1, dtype=np.int64),
    )


def with_room(queues: Queues, plays: int) -> Queues:
    """Return the queues with room for all rewards due and for the rewards of `plays` more plays."""
    size, needed = queues.reward.size, int(queues.due[0]) + plays
    if needed <= size:
        return queues
    grown = max(needed, 2 * size)
    chain = _chained(size, grown, int(queues.free[0]))
    return queues._replace(
        reward=np.concatenate([queues.reward, np.zeros(grown - size)]),
        played=np.concatenate([queues.played, np.zeros(grown - size, dtype=np.int64)]),
        next=np.concatenate([queues.next, chain]),
        free=np.full(1, size, dtype=np.int64),
    )


def _chained(start: int, stop: int, after: int) -> Counts:
    """Return the links of the places from start to stop: each to the next, the last to `after`."""
    chain = np.arange(start + 1, stop + 1, dtype=np.int64)
    chain[-1] = after
    return chain


@compiled
def enqueue(queues: Queues, arm: int, played: int, reward: float, now: int) -> None:
    """Insert a reward that arrives at the end of round `now` into the arm's queue."""
    if queues.latest[arm] != now:
        queues.latest[arm] = now
        queues.settled[arm] = queues.last[arm]
    place = queues.free[0]
    queues.free[0] = queues.next[place]
    queues.reward[place] = reward
    queues.played[place] = played
    before, last = queues.settled[arm], queues.last[arm]
    if last != before and queues.played[last] < played:
        before = last
    after = queues.next[before] if before != NOWHERE else queues.first[arm]
    while after != NOWHERE and queues.played[after] < played:
        before, after = after, queues.next[after]
    queues.next[place] = after
    if before == NOWHERE:
        queues.first[arm] = place
    else:
        queues.next[before] = place
    if after == NOWHERE:
        queues.last[arm] = place


@compiled
def release(queues: Queues, arm: int, until: int) -> None:
    """Remove and free places from the front of an arm's queue until the place `until` is first."""
    while queues.first[arm] != until:
        place = queues.first[arm]
        queues.first[arm] = queues.next[place]
        queues.next[place] = queues.free[0]
        queues.free[0] = place
        queues.due[0] -= 1
    if until == NOWHERE:
        queues.last[arm] = NOWHERE
