"""Outcomes and losses by arm and by the time of the decision, for the last hour, day and week.

A play belongs to the time at which it was decided, whenever its outcome comes. The sums of the last
hour are kept for every five minutes, older ones for longer and longer times, and those of more than
a week are given up. So their number is bounded, whatever the traffic.
"""

from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.service.statistics.moments import widened
from belated.service.statistics.weights_over_time import RANGES

WIDTHS = (300.0, 7_200.0, 43_200.0)  # seconds that are summed together, for each of the RANGES
SPANS = tuple(each.seconds for each in RANGES.values())
MOST_NUMBERS = 65_536
FEWEST = 4  # times whose sums are kept, however many arms there are

DECIDED, TOLD, EXPIRED, CANCELLED, LOSSES, SQUARES = range(6)
FIELDS = 6


class RangeSums(NamedTuple):
    """The sums of the decisions since a time: `sums` has a row for each field, by arm."""

    since: float
    sums: Floats


class SumsOverTime:
    """The sums by level and beginning of the time that they are of."""

    def __init__(self, arms: int) -> None:
        self._parts: dict[tuple[int, float], Floats] = {}
        self.widen(arms)

    def widen(self, arms: int) -> None:
        """Make room for more arms."""
        self._arms, self._room = arms, max(FEWEST, MOST_NUMBERS // (FIELDS * arms))
        self._parts = {key: widened(part, arms) for key, part in self._parts.items()}

    def add_decision(self, at: float, places: int | Counts) -> None:
        """Count a decision for its arm, or for all arms that it weighs."""
        key = (0, at - at % WIDTHS[0])
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = np.zeros((FIELDS, self._arms))
            self._age(at)
        part[DECIDED, places] += 1.0

    def add_outcome(self, decided_at: float, place: int, field: int, loss: float | None) -> None:
        """Count an outcome of a play that was decided then, with the loss that counts."""
        for level, width in enumerate(WIDTHS):
            part = self._parts.get((level, decided_at - decided_at % width))
            if part is not None:
                part[field, place] += 1.0
                if loss is not None:
                    part[LOSSES, place] += loss
                    part[SQUARES, place] += loss * loss
                return

    def _age(self, now: float) -> None:
        """Put what has become too old for its level into the next; give up what is oldest."""
        for level, (width, span) in enumerate(zip(WIDTHS, SPANS, strict=True)):
            old = [key for key in self._parts if key[0] == level and key[1] + width <= now - span]
            for key in sorted(old):  # in an order that a snapshot does not change
                part = self._parts.pop(key)
                if level + 1 < len(WIDTHS):
                    begin = key[1] - key[1] % WIDTHS[level + 1]
                    held = self._parts.setdefault((level + 1, begin), np.zeros_like(part))
                    held += part
        while len(self._parts) > self._room:
            del self._parts[min(self._parts, key=lambda key: key[1])]

    def of_last(self, range_: str, now: float) -> RangeSums:
        """The sums of the plays that were decided in the last hour, day or week."""
        level = list(RANGES).index(range_)
        begin = now - SPANS[level]
        held = {
            start: part
            for (each, start), part in self._parts.items()
            if each <= level and start + WIDTHS[each] > begin
        }
        total = sum(held.values(), np.zeros((FIELDS, self._arms)))
        first = min(held, default=begin)
        # If there is no room for more, there may have been older ones in the range.
        is_full = len(self._parts) >= self._room
        return RangeSums(first if is_full else min(first, begin), total)

    def arrays(self) -> dict[str, Floats]:
        """All sums as named arrays, for a snapshot."""
        kept = sorted(self._parts.items(), key=lambda item: item[0])
        keys = np.array([key for key, _ in kept], dtype=np.float64).reshape(-1, 2)
        parts = np.array([part for _, part in kept]).reshape(-1, FIELDS, self._arms)
        return {"sums.key": keys, "sums.part": parts}

    def restore(self, keys: Floats, parts: Floats) -> None:
        """Take the sums of a snapshot."""
        pairs = zip(keys.tolist(), parts, strict=True)
        self._parts = {(int(level), start): part.copy() for (level, start), part in pairs}
