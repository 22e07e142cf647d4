"""What can be seen of a problem: folded from its journal beside the learner, so it lasts as well.

Nothing here bears on a decision. Times are those of the journal, so that all who fold the same
events see the same.
"""

import math
from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

MOST_POINTS, MOST_NUMBERS = 256, 65_536
MOST_EVENTS = 50
MINUTE = 60


class Moments(NamedTuple):
    """Count, mean and sum of squared deviations of a number, by arm (Welford)."""

    number: Counts
    mean: Floats
    squares: Floats

    @classmethod
    def of_nothing(cls, arms: int) -> "Moments":
        """Before the first number."""
        return cls(np.zeros(arms, dtype=np.int64), np.zeros(arms), np.zeros(arms))

    def add(self, arm: int, value: float) -> None:
        """One more number of an arm."""
        self.number[arm] += 1
        from_mean = value - self.mean[arm]
        self.mean[arm] += from_mean / self.number[arm]
        self.squares[arm] += from_mean * (value - self.mean[arm])

    def shown(self, arm: int) -> dict[str, Any]:
        """As it is handed out; the half width of a 95 % confidence interval of the mean, too."""
        count = int(self.number[arm])
        if count == 0:
            return {"count": 0, "mean": None, "variance": None, "half_width": None}
        variance = None if count < 2 else float(self.squares[arm]) / (count - 1)
        half = None if variance is None else 1.96 * math.sqrt(variance / count)
        mean = float(self.mean[arm])
        return {"count": count, "mean": mean, "variance": variance, "half_width": half}


class Trail:
    """The weights over time: every n-th round, where n doubles whenever there are too many."""

    def __init__(self, arms: int) -> None:
        self.room = max(8, min(MOST_POINTS, MOST_NUMBERS // arms))
        self.every = 1
        self.points: list[tuple[int, float, Floats]] = []

    def add(self, round_: int, at: float, weights: Floats) -> None:
        """The weights of a round."""
        if (round_ - 1) % self.every:
            return
        if len(self.points) == self.room:
            self.every *= 2
            self.points = [point for point in self.points if (point[0] - 1) % self.every == 0]
            if (round_ - 1) % self.every:
                return
        self.points.append((round_, at, weights.copy()))


class Sight:
    """Losses, delays and fates by arm, weights over time, and the last events."""

    def __init__(self, arms: int) -> None:
        self.losses, self.rounds = Moments.of_nothing(arms), Moments.of_nothing(arms)
        self.seconds = Moments.of_nothing(arms)
        self.decided, self.expired, self.cancelled = np.zeros((3, arms), dtype=np.int64)
        self.trail = Trail(arms)
        self.recent: deque[list[Any]] = deque(maxlen=MOST_EVENTS)
        self._tempo: deque[list[int]] = deque(maxlen=MINUTE + 1)

    def decide(self, round_: int, at: float, arm: int | None, weights: Floats) -> None:
        """A round was played."""
        self.decided[arm] += 1  # None: of all arms
        self.trail.add(round_, at, weights)
        second = int(at)
        if self._tempo and self._tempo[-1][0] == second:
            self._tempo[-1][1] += 1
        else:
            self._tempo.append([second, 1])

    def learn(self, arm: int, loss: float, rounds: int, seconds: float) -> None:
        """A loss was told, so many rounds and seconds after its play."""
        self.losses.add(arm, loss)
        self.rounds.add(arm, float(rounds))
        self.seconds.add(arm, seconds)

    def remember(self, at: float, kind: str, ticket: str, arm: str | None, value: Any) -> None:
        """One of the last events."""
        self.recent.append([at, kind, ticket, arm, value])

    def per_second(self, now: float) -> float:
        """Decisions a second over the last minute."""
        return sum(self.last_minute(now)) / MINUTE

    def last_minute(self, now: float) -> list[int]:
        """The decisions of each second of the last minute, the latest last."""
        counts, since = [0] * MINUTE, int(now) - MINUTE
        for second, number in self._tempo:
            if since < second <= since + MINUTE:
                counts[second - since - 1] = number
        return counts

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All numbers, by name."""
        found: dict[str, NDArray[Any]] = {
            "decided": self.decided, "expired": self.expired, "cancelled": self.cancelled,
        }  # fmt: skip
        for name in ("losses", "rounds", "seconds"):
            for part, array in getattr(self, name)._asdict().items():
                found[f"{name}.{part}"] = array
        points = self.trail.points
        found["trail.round"] = np.array([point[0] for point in points], dtype=np.int64)
        found["trail.at"] = np.array([point[1] for point in points], dtype=np.float64)
        width = len(self.decided)
        found["trail.q"] = np.array([point[2] for point in points]).reshape(len(points), width)
        return found

    def take(self, arrays: dict[str, NDArray[Any]], every: int, recent: list[list[Any]]) -> None:
        """What was kept of another sight of as many arms."""
        for name, array in self.arrays().items():
            if not name.startswith("trail."):
                np.copyto(array, arrays[name], casting="no")
        parts = (arrays["trail.round"], arrays["trail.at"], arrays["trail.q"])
        self.trail.every = every
        self.trail.points = [
            (int(round_), float(at), q.copy()) for round_, at, q in zip(*parts, strict=True)
        ]
        self.recent.extend(recent)
