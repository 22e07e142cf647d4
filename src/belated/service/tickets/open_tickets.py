"""The open tickets of all problems: which replica has each of them, and which are due.

Nothing here looks at all problems or at all tickets. A ticket is found by its id, and those that
are due lie first in heaps, by time over all problems and by round in each.

A ticket takes some thirty bytes here. Its entry says which holder has it, and in which slot; its id
and its deadlines are read there. Entries are in buckets, by the random bits of the id. When there
are too many, one bucket is split in two, so that no request waits for all to be moved.
"""

from array import array
from collections.abc import Collection
from typing import Protocol

from belated.service.tickets.deadlines import DeadlineHeap
from belated.service.tickets.open_plays import EXPIRES_AT, EXPIRES_ROUND, NOWHERE, OpenPlays
from belated.service.tickets.ticket_ids import id_of

PER_BUCKET = 24
HOLDER_BITS, SLOT_BITS = 24, 32  # of an entry; the bits above them are the first of the id
SLOTS, HOLDERS = (1 << SLOT_BITS) - 1, (1 << HOLDER_BITS) - 1
FIRST = 64 - HOLDER_BITS - SLOT_BITS  # bits of the random part of an id that an entry repeats


class Holder(Protocol):
    """What a ticket is open in: a replica, which counts rounds and has the plays."""

    round: int
    open: OpenPlays


class OpenTickets:
    """Open tickets by id, and by deadline.

    A ticket that is closed stays in its heap until its turn comes, or until most of the heap is
    closed; then it is swept.
    """

    def __init__(self) -> None:
        self._holders: list[Holder | None] = []
        self._numbers: dict[Holder, int] = {}
        self._buckets = [array("Q")]
        self._rounds, self._split = 0, 0  # all buckets were split so often, and then so many
        self._count = 0
        self._by_time = DeadlineHeap()
        self._by_round: dict[Holder, DeadlineHeap] = {}
        self._advanced: dict[Holder, None] = {}  # have decided since their rounds were looked at

    def __len__(self) -> int:
        return self._count

    def place(self, ticket: str) -> tuple[Holder | None, int]:
        """What a ticket is open in, and the slot there; (None, NOWHERE) if it is not open."""
        id_ = id_of(ticket)[0]
        first = id_[1] >> (64 - FIRST)
        for entry in self._bucket(id_[1]):
            if entry >> (64 - FIRST) == first:
                holder = self._holders[entry >> SLOT_BITS & HOLDERS]
                if holder is not None and holder.open.id_at(entry & SLOTS) == id_:
                    return holder, entry & SLOTS
        return None, NOWHERE

    def slot(self, ticket: str, holder: Holder) -> int:
        """The slot that a holder has a ticket in; NOWHERE if it has not."""
        found, slot = self.place(ticket)
        return slot if found is holder else NOWHERE

    def add(self, holder: Holder, slot: int) -> None:
        """The ticket in a slot is open."""
        number = self._numbers.get(holder)
        if number is None:
            number = self._numbers[holder] = len(self._holders)
            self._holders.append(holder)
        bucket, entry = self._kept(number, holder, slot)
        bucket.append(entry)
        self._count += 1
        if self._count > PER_BUCKET * len(self._buckets):
            self._split_one()
        self.watch(holder, slot)

    def watch(self, holder: Holder, slot: int) -> None:
        """Look at the deadlines of the ticket in a slot, as if it was not found to be due yet."""
        entry = self._numbers[holder] << SLOT_BITS | slot
        expires_at = holder.open.due_at(slot, EXPIRES_AT)
        if expires_at < float("inf"):
            self._push(self._by_time, expires_at, entry, EXPIRES_AT)
        expires_round = holder.open.due_at(slot, EXPIRES_ROUND)
        if expires_round < float("inf"):
            heap = self._by_round.setdefault(holder, DeadlineHeap())
            self._push(heap, expires_round, entry, EXPIRES_ROUND)
            self._advanced[holder] = None

    def _push(self, heap: DeadlineHeap, deadline: float, entry: int, kind: int) -> None:
        if heap.is_large_for(self._count):
            heap.sweep(lambda deadline, entry: self._due_at(entry, kind) == deadline)
        heap.push(deadline, entry)

    def remove(self, holder: Holder, slot: int) -> None:
        """The ticket in a slot is closed."""
        bucket, entry = self._kept(self._numbers[holder], holder, slot)
        last = bucket.pop()
        if last != entry:
            bucket[bucket.index(entry)] = last
        self._count -= 1

    def forget(self, holder: Holder) -> None:
        """Forget all tickets of a holder that is not used any more."""
        for slot in holder.open.slots():
            self.remove(holder, slot)
        if holder in self._numbers:
            self._holders[self._numbers.pop(holder)] = None
        self._by_round.pop(holder, None)
        self._advanced.pop(holder, None)

    def take_due(self, now: float, most: int) -> Collection[str]:
        """Take out the tickets past a deadline, at most so many, the longest overdue first.

        The caller closes them, or has them watched again.
        """
        due: dict[str, None] = {}
        self._take(self._by_time, now, most, due, EXPIRES_AT)
        for holder in list(self._advanced):
            if len(due) >= most:
                break
            self._take(self._by_round[holder], holder.round, most, due, EXPIRES_ROUND)
            if len(due) < most:
                del self._advanced[holder]
        return due

    def _take(
        self, heap: DeadlineHeap, now: float, most: int, due: dict[str, None], kind: int
    ) -> None:
        while heap.first() <= now and len(due) < most:
            entry = heap.pop()
            if self._due_at(entry, kind) <= now:  # else the slot has another play by now, or none
                holder = self._holders[entry >> SLOT_BITS & HOLDERS]
                assert holder is not None
                due[holder.open.ticket_at(entry & SLOTS)] = None

    def _due_at(self, entry: int, kind: int) -> float:
        holder = self._holders[entry >> SLOT_BITS & HOLDERS]
        return float("inf") if holder is None else holder.open.due_at(entry & SLOTS, kind)

    # -- the buckets

    def _bucket(self, word: int) -> "array[int]":
        place = word & ((1 << self._rounds) - 1)
        if place < self._split:
            place = word & ((2 << self._rounds) - 1)
        return self._buckets[place]

    def _kept(self, number: int, holder: Holder, slot: int) -> "tuple[array[int], int]":
        """The bucket and the entry of the ticket in a slot of the holder of this number."""
        word = holder.open.id_at(slot)[1]
        entry = word >> (64 - FIRST) << (64 - FIRST) | number << SLOT_BITS | slot
        return self._bucket(word), entry

    def _split_one(self) -> None:
        """Split the next bucket in two, by one more bit of the ids."""
        bit, stay, go = 1 << self._rounds, array("Q"), array("Q")
        for entry in self._buckets[self._split]:
            holder = self._holders[entry >> SLOT_BITS & HOLDERS]
            assert holder is not None
            (go if holder.open.id_at(entry & SLOTS)[1] & bit else stay).append(entry)
        self._buckets[self._split] = stay
        self._buckets.append(go)
        self._split += 1
        if self._split == bit:
            self._rounds, self._split = self._rounds + 1, 0
