"""The open tickets of all problems: which replica has each of them, and which are due.

Nothing here looks at all problems or at all tickets: a ticket is found by its id, and those that
are due lie first in heaps, by time over all problems and by round in each.
"""

from collections.abc import Collection, Iterable
from heapq import heapify, heappop, heappush
from typing import Protocol

FEW = 64  # entries that a heap may have beyond twice the open tickets before it is swept

Heap = list[tuple[float, str]]


class Holder(Protocol):
    """What a ticket is open in: a replica, which counts rounds."""

    round: int


class OpenTickets:
    """Open tickets by id, and by deadline.

    A ticket that is closed stays in its heap until its turn comes, or until most of the heap is
    closed; then it is swept.
    """

    def __init__(self) -> None:
        self._holders: dict[str, Holder] = {}
        self._by_time: Heap = []
        self._by_round: dict[Holder, Heap] = {}
        self._advanced: dict[Holder, None] = {}  # have decided since their rounds were looked at

    def __len__(self) -> int:
        return len(self._holders)

    def holder(self, ticket: str) -> Holder | None:
        """What a ticket is open in; None if it is not open."""
        return self._holders.get(ticket)

    def add(self, ticket: str, holder: Holder, expires_at: float, expires_round: float) -> None:
        """A ticket is open, with its deadlines; infinity is none."""
        self._holders[ticket] = holder
        if expires_at < float("inf"):
            self._push(self._by_time, (expires_at, ticket))
        if expires_round < float("inf"):
            self._push(self._by_round.setdefault(holder, []), (expires_round, ticket))
            self._advanced[holder] = None

    def _push(self, heap: Heap, entry: tuple[float, str]) -> None:
        if len(heap) > 2 * len(self._holders) + FEW:
            heap[:] = [each for each in heap if each[1] in self._holders]
            heapify(heap)
        heappush(heap, entry)

    def remove(self, ticket: str) -> None:
        """A ticket is closed."""
        del self._holders[ticket]

    def forget(self, holder: Holder, tickets: Iterable[str]) -> None:
        """Forget all tickets of a holder that is not used any more."""
        for ticket in tickets:
            self._holders.pop(ticket, None)
        self._by_round.pop(holder, None)
        self._advanced.pop(holder, None)

    def take_due(self, now: float, most: int) -> Collection[str]:
        """Take out the tickets past a deadline, at most so many, the longest overdue first.

        The caller closes them, or puts them back with `add`.
        """
        due: dict[str, None] = {}
        self._take(self._by_time, now, most, due)
        for holder in list(self._advanced):
            if len(due) >= most:
                break
            self._take(self._by_round[holder], holder.round, most, due)
            if len(due) < most:
                del self._advanced[holder]
        return due

    def _take(self, heap: Heap, now: float, most: int, due: dict[str, None]) -> None:
        while heap and heap[0][0] <= now and len(due) < most:
            _, ticket = heappop(heap)
            if ticket in self._holders:
                due[ticket] = None
