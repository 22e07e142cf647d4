"""Timing: contestants take turns in one process, and a ratio is computed within each turn.

The speed of a machine changes while a benchmark runs. Contestants that run within the same second
change together, so the ratio of two neighbours is stable where their times are not.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Clock = Callable[[], int]

NANOSECOND = 1e-9
MOST_AT_ONCE = 20_000  # units of work in a batch


@dataclass(frozen=True)
class Spread:
    """The median of repeated measurements, and their quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Return the spread of these values."""
        low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
        return cls(float(median), float(low), float(high))


@dataclass(frozen=True)
class Contestant:
    """A function to be timed: `work(n)` does n units of work, `batch` of them in each turn."""

    name: str
    work: Callable[[int], None]
    batch: int = 1


@dataclass(frozen=True)
class Race:
    """The seconds for a unit of work, by contestant, one for each turn."""

    seconds: dict[str, list[float]]

    def time(self, name: str) -> Spread:
        """Return the time of a unit of work of this contestant, in seconds."""
        return Spread.of(self.seconds[name])

    def ratio(self, name: str, to: str) -> Spread:
        """Return this contestant's time divided by that of `to`, turn by turn."""
        pairs = zip(self.seconds[name], self.seconds[to], strict=True)
        return Spread.of([mine / yours for mine, yours in pairs])


def race(
    contestants: Sequence[Contestant],
    turns: int,
    prepare: Callable[[], None] = lambda: None,
    clock: Clock = time.process_time_ns,
) -> Race:
    """Let all contestants do a batch in each turn, in a different order every time.

    `prepare` runs before each turn and is not timed; nor is the first turn, which warms up.
    """
    seconds: dict[str, list[float]] = {each.name: [] for each in contestants}
    for turn in range(turns + 1):
        prepare()
        first = turn % len(contestants)
        for each in [*contestants[first:], *contestants[:first]]:
            started = clock()
            each.work(each.batch)
            ended = clock()
            if turn > 0:
                unit = max(ended - started, 1) * NANOSECOND / each.batch
                seconds[each.name].append(unit)
    return Race(seconds)


def sized(
    name: str, work: Callable[[int], None], seconds: float, clock: Clock = time.process_time_ns
) -> Contestant:
    """Make a contestant whose batches take about the given time, which is found by trial."""
    batch = 1
    while True:
        started = clock()
        work(batch)
        unit = max(clock() - started, 1) * NANOSECOND / batch
        if unit * batch >= 0.25 * seconds or batch >= MOST_AT_ONCE:
            return Contestant(name, work, min(MOST_AT_ONCE, max(1, round(seconds / unit))))
        batch *= 4
