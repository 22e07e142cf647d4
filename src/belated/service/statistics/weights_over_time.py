"""The weights over time: thinned over the whole life of a problem, and finer recently."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.service.statistics.moments import widened

MOST_POINTS, MOST_NUMBERS = 256, 65_536
FEWEST_POINTS = 8


class TimeRange(NamedTuple):
    """A range of time up to now: its length, and the least time between two points in it."""

    seconds: float
    step: float


RANGES: Mapping[str, TimeRange] = {
    "hour": TimeRange(3_600.0, 60.0),
    "day": TimeRange(86_400.0, 1_200.0),
    "week": TimeRange(604_800.0, 7_200.0),
}
ALL = "all"  # the range of all time, which is thinned by rounds

WeightPoint = tuple[int, float, Floats]  # round, time, and the weights of all arms there ever were


class WeightHistory:
    """The weights over time: of every n-th round; n doubles when there are too many points."""

    def __init__(self, arms: int) -> None:
        self.every = 1
        self.points: list[WeightPoint] = []
        self.widen(arms)

    def widen(self, arms: int) -> None:
        """Make room for more arms, which had no weight until now."""
        self.arms = arms
        self.room = max(FEWEST_POINTS, min(MOST_POINTS, MOST_NUMBERS // arms))
        self.points = [(round_, at, widened(q, arms)) for round_, at, q in self.points]

    def add(self, round_: int, at: float, weights: Callable[[], Floats], places: Counts) -> None:
        """Add the weights of a round, if it is one of these; `places` are those of its arms."""
        if (round_ - 1) % self.every:
            return
        if len(self.points) >= self.room:
            self.every *= 2
            self.points = [point for point in self.points if (point[0] - 1) % self.every == 0]
            if (round_ - 1) % self.every:
                return
        self.points.append((round_, at, shown_at(self.arms, weights(), places)))


class RecentWeights:
    """The weights of the last hour, day or week: no two points nearer than a step of time."""

    def __init__(self, arms: int, range_: TimeRange) -> None:
        self.range = range_
        self.points: list[WeightPoint] = []
        self.widen(arms)

    def widen(self, arms: int) -> None:
        """Make room for more arms, which had no weight until now."""
        room = max(FEWEST_POINTS, MOST_NUMBERS // (len(RANGES) * arms))
        self.arms, self.step = arms, max(self.range.step, self.range.seconds / room)
        self.points = [(round_, at, widened(q, arms)) for round_, at, q in self.points]
        self.next = self.points[-1][1] + self.step if self.points else -np.inf

    def add(self, round_: int, at: float, weights: Callable[[], Floats], places: Counts) -> None:
        """Add the weights of a round, unless there is a point just before it."""
        if at < self.next:
            return
        self.points.append((round_, at, shown_at(self.arms, weights(), places)))
        self.next = at + self.step
        # One older point stays: what was in force as the range began.
        while len(self.points) > 1 and self.points[1][1] <= at - self.range.seconds:
            del self.points[0]

    def until(self, now: float) -> list[WeightPoint]:
        """The points of the range up to now; one before it is shown where the range begins."""
        begin = now - self.range.seconds
        within = [point for point in self.points if point[1] > begin]
        before = self.points[: len(self.points) - len(within)]
        first = [(before[-1][0], begin, before[-1][2])] if before else []
        return [*first, *within]


def shown_at(arms: int, weights: Floats, places: Counts) -> Floats:
    """The weights of the present arms among those of all arms there ever were."""
    shown = np.zeros(arms)
    shown[places] = weights
    return shown
