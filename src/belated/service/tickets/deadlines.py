"""A heap of deadlines, each with a number that says what is due: sixteen bytes for both."""

from array import array
from collections.abc import Callable

FEW = 64  # entries that a heap may have beyond twice the open tickets before it is swept


class DeadlineHeap:
    """Deadlines, of which the first is found at once."""

    def __init__(self) -> None:
        self._deadlines, self._entries = array("d"), array("Q")

    def __len__(self) -> int:
        return len(self._deadlines)

    def first(self) -> float:
        """The first deadline; infinity if there is none."""
        return self._deadlines[0] if self._deadlines else float("inf")

    def push(self, deadline: float, entry: int) -> None:
        """Add a deadline."""
        self._deadlines.append(deadline)
        self._entries.append(entry)
        self._rise(len(self._deadlines) - 1, deadline, entry)

    def pop(self) -> int:
        """Take out what is due first."""
        found = self._entries[0]
        deadline, entry = self._deadlines.pop(), self._entries.pop()
        if self._deadlines:
            self._sink(deadline, entry)
        return found

    def is_large_for(self, number: int) -> bool:
        """Whether most deadlines cannot be of so many open tickets."""
        return len(self._deadlines) > 2 * number + FEW

    def sweep(self, stands: Callable[[float, int], bool]) -> None:
        """Leave out the deadlines that do not stand any more."""
        pairs = zip(self._deadlines, self._entries, strict=True)
        kept = sorted(pair for pair in pairs if stands(*pair))
        self._deadlines = array("d", [deadline for deadline, _ in kept])
        self._entries = array("Q", [entry for _, entry in kept])

    def _rise(self, place: int, deadline: float, entry: int) -> None:
        deadlines, entries = self._deadlines, self._entries
        while place and deadlines[above := (place - 1) // 2] > deadline:
            deadlines[place], entries[place] = deadlines[above], entries[above]
            place = above
        deadlines[place], entries[place] = deadline, entry

    def _sink(self, deadline: float, entry: int) -> None:
        deadlines, entries, place, size = self._deadlines, self._entries, 0, len(self._deadlines)
        while (below := 2 * place + 1) < size:
            if below + 1 < size and deadlines[below + 1] < deadlines[below]:
                below += 1
            if deadlines[below] >= deadline:
                break
            deadlines[place], entries[place] = deadlines[below], entries[below]
            place = below
        deadlines[place], entries[place] = deadline, entry
