"""What can be seen of a problem: folded from its journal beside the learner, so it lasts as well.

Nothing here bears on a decision. Times are those of the journal, so that all who fold the same
events see the same.
"""

import math
from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Counts, Floats
from belated.service.core.arms import Lineup

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

    def with_room(self, arms: int) -> "Moments":
        """The same with room for so many arms."""
        return Moments(*(widened(part, arms) for part in self))

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
        self.every = 1
        self.points: list[tuple[int, float, Floats]] = []
        self.widen(arms)

    def widen(self, arms: int) -> None:
        """Have room for so many arms; those that were not there had no weight."""
        self.arms, self.room = arms, max(8, min(MOST_POINTS, MOST_NUMBERS // arms))
        self.points = [(round_, at, widened(q, arms)) for round_, at, q in self.points]

    def add(self, round_: int, at: float, weights: Floats, places: Counts) -> None:
        """The weights of a round, of the arms at these places."""
        if (round_ - 1) % self.every:
            return
        if len(self.points) >= self.room:
            self.every *= 2
            self.points = [point for point in self.points if (point[0] - 1) % self.every == 0]
            if (round_ - 1) % self.every:
                return
        shown = np.zeros(self.arms)
        shown[places] = weights
        self.points.append((round_, at, shown))


class Sight:
    """Losses, delays and fates by arm, weights over time, and the last events.

    Arms that were removed stay: there is a place for each name that there ever was.
    """

    def __init__(self, lineup: Lineup) -> None:
        arms = len(lineup.ever)
        self.losses, self.rounds = Moments.of_nothing(arms), Moments.of_nothing(arms)
        self.seconds = Moments.of_nothing(arms)
        self.decided, self.expired, self.cancelled = np.zeros((3, arms), dtype=np.int64)
        self.trail = Trail(arms)
        self.recent: deque[list[Any]] = deque(maxlen=MOST_EVENTS)
        self._tempo: deque[list[int]] = deque(maxlen=MINUTE + 1)
        self._take_places(lineup)

    def _take_places(self, lineup: Lineup) -> None:
        self.places = {arm: place for place, arm in enumerate(lineup.ever)}
        self._present = np.array([self.places[arm] for arm in lineup.arms], dtype=np.int64)

    def rearm(self, lineup: Lineup) -> None:
        """The arms are others from now on."""
        arms = len(lineup.ever)
        for name in ("losses", "rounds", "seconds"):
            setattr(self, name, getattr(self, name).with_room(arms))
        for name in ("decided", "expired", "cancelled"):
            setattr(self, name, widened(getattr(self, name), arms))
        self.trail.widen(arms)
        self._take_places(lineup)

    def decide(self, round_: int, at: float, arm: str | None, weights: Floats) -> None:
        """A round was played, with these weights of the present arms."""
        self.decided[self._present if arm is None else self.places[arm]] += 1
        self.trail.add(round_, at, weights, self._present)
        second = int(at)
        if self._tempo and self._tempo[-1][0] == second:
            self._tempo[-1][1] += 1
        else:
            self._tempo.append([second, 1])

    def learn(self, arm: str, loss: float, rounds: int, seconds: float) -> None:
        """A loss was told, so many rounds and seconds after its play."""
        place = self.places[arm]
        self.losses.add(place, loss)
        self.rounds.add(place, float(rounds))
        self.seconds.add(place, seconds)

    def end(self, arm: str, kind: str) -> None:
        """A play was not told: it expired or was cancelled."""
        ended = self.expired if kind == "expired" else self.cancelled
        ended[self.places[arm]] += 1

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


def widened(part: NDArray[Any], arms: int) -> NDArray[Any]:
    """Numbers by arm, with zeros for those that are new."""
    return np.concatenate([part, np.zeros(arms - len(part), dtype=part.dtype)])
