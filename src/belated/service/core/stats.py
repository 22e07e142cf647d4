"""The statistics of a problem, which the dashboard shows; folded from the journal like the learner.

No decision depends on them. Times are those of the journal, so that all workers that fold the same
events have the same statistics.
"""

import math
from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Counts, Floats
from belated.service.core.arms import ArmHistory
from belated.service.core.delays import DelayBins
from belated.service.core.told_values import NOTHING_TOLD, ToldValue

MOST_POINTS, MOST_NUMBERS = 256, 65_536
MOST_EVENTS = 50
MINUTE = 60  # seconds
MOMENTS = ("losses", "told", "late", "rounds")


class Moments(NamedTuple):
    """Count, mean and sum of squared deviations of a number, by arm (Welford)."""

    number: Counts
    mean: Floats
    squares: Floats

    @classmethod
    def of_nothing(cls, arms: int) -> "Moments":
        """The moments of no numbers at all."""
        return cls(np.zeros(arms, dtype=np.int64), np.zeros(arms), np.zeros(arms))

    def with_room(self, arms: int) -> "Moments":
        """These moments with room for more arms, which have no numbers yet."""
        return Moments(*(widened(part, arms) for part in self))

    def add(self, arm: int, value: float) -> None:
        """Add a number of an arm; reckoned with plain numbers, which takes half the time."""
        number, before = self.number.item(arm) + 1, self.mean.item(arm)
        from_mean = value - before
        mean = before + from_mean / number
        self.number[arm], self.mean[arm] = number, mean
        self.squares[arm] = self.squares.item(arm) + from_mean * (value - mean)

    def shown(self, arm: int) -> dict[str, Any]:
        """Count, mean, variance and half the width of the 95 % confidence interval of the mean."""
        count = int(self.number[arm])
        if count == 0:
            return {"count": 0, "mean": None, "variance": None, "half_width": None}
        variance = None if count < 2 else float(self.squares[arm]) / (count - 1)
        half = None if variance is None else 1.96 * math.sqrt(variance / count)
        mean = float(self.mean[arm])
        return {"count": count, "mean": mean, "variance": variance, "half_width": half}


class WeightHistory:
    """The weights over time: of every n-th round; n doubles when there are too many points."""

    def __init__(self, arms: int) -> None:
        self.every = 1
        self.points: list[tuple[int, float, Floats]] = []
        self.widen(arms)

    def widen(self, arms: int) -> None:
        """Make room for more arms, which had no weight until now."""
        self.arms, self.room = arms, max(8, min(MOST_POINTS, MOST_NUMBERS // arms))
        self.points = [(round_, at, widened(q, arms)) for round_, at, q in self.points]

    def add(self, round_: int, at: float, weights: Floats, places: Counts) -> None:
        """Add the weights of a round; `places` are the places of its arms."""
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


class ProblemStats:
    """Losses, delays and outcomes by arm, weights over time, and the latest events.

    Losses are in [0, 1] here. Removed arms keep their numbers: there is a place for each name that
    there ever was.
    """

    def __init__(self, arm_history: ArmHistory) -> None:
        arms = len(arm_history.ever)
        self.losses = Moments.of_nothing(arms)  # all that the learner counts: told and expired
        self.told, self.late = Moments.of_nothing(arms), Moments.of_nothing(arms)  # in time, or not
        self.rounds = Moments.of_nothing(arms)  # the delays of those told, in rounds
        self.delays = DelayBins()
        self.told_as = np.zeros(2, dtype=np.int64)  # how often as a loss, and as a reward
        self.decided, self.expired, self.cancelled = np.zeros((3, arms), dtype=np.int64)
        # of what was told out of a soft range: how many, and the sums above and below the range
        self.clipped = np.zeros((arms, 3))
        self.history = WeightHistory(arms)
        self.recent: deque[list[Any]] = deque(maxlen=MOST_EVENTS)
        self._per_second: deque[list[int]] = deque(maxlen=MINUTE + 1)
        self._take_places(arm_history)

    def _take_places(self, arm_history: ArmHistory) -> None:
        self.places = {arm: place for place, arm in enumerate(arm_history.ever)}
        self._present = np.array([self.places[arm] for arm in arm_history.arms], dtype=np.int64)

    def change_arms(self, arm_history: ArmHistory) -> None:
        """Make room for the arms that were added."""
        arms = len(arm_history.ever)
        for name in MOMENTS:
            setattr(self, name, getattr(self, name).with_room(arms))
        for name in ("decided", "expired", "cancelled"):
            setattr(self, name, widened(getattr(self, name), arms))
        self.clipped = np.concatenate([self.clipped, np.zeros((arms - len(self.clipped), 3))])
        self.history.widen(arms)
        self._take_places(arm_history)

    def add_decision(self, round_: int, at: float, arm: str | None, weights: Floats) -> None:
        """Count a decision, made with these weights of the present arms."""
        self.decided[self._present if arm is None else self.places[arm]] += 1
        self.history.add(round_, at, weights, self._present)
        second = int(at)
        if self._per_second and self._per_second[-1][0] == second:
            self._per_second[-1][1] += 1
        else:
            self._per_second.append([second, 1])

    def add_told(self, arm: str, value: ToldValue, rounds: int, seconds: float) -> None:
        """Count a loss or reward that was told so many rounds and seconds after its decision."""
        place = self.places[arm]
        assert value.unit_loss is not None
        self.losses.add(place, value.unit_loss)
        self.told.add(place, value.unit_loss)
        if value.was_loss or value.was_reward:
            self.told_as[int(value.was_reward)] += 1
        self.rounds.add(place, float(rounds))
        self.delays.add_told(place, seconds)

    def add_clipped(self, arm: str, excess: float) -> None:
        """Count what was told of an arm if it lies so far out of the soft range."""
        if excess:
            self.clipped[self.places[arm]] += (1.0, max(excess, 0.0), min(excess, 0.0))

    def add_late(self, arm: str, value: ToldValue) -> None:
        """Count a report that came after its play had expired."""
        if value.unit_loss is not None and arm in self.places:
            self.late.add(self.places[arm], value.unit_loss)

    def add_expired(self, arm: str, value: ToldValue, seconds: float) -> None:
        """Count a play that expired after so many seconds, with the loss that it counts with."""
        place = self.places[arm]
        self.expired[place] += 1
        if value.unit_loss is not None:
            self.losses.add(place, value.unit_loss)
        self.delays.add_expired(place, seconds)

    def add_cancelled(self, arm: str) -> None:
        """Count a play that was cancelled; nothing of it is in the losses and delays."""
        self.cancelled[self.places[arm]] += 1

    def add_event(
        self,
        at: float,
        kind: str,
        ticket: str,
        arm: str | None,
        probability: float | None,
        value: ToldValue = NOTHING_TOLD,
    ) -> None:
        """Remember an event as one of the latest."""
        self.recent.append([at, kind, ticket, arm, probability, *value])

    @property
    def tells_rewards(self) -> bool:
        """Whether most of what was told was told as a reward."""
        losses, rewards = self.told_as
        return bool(rewards > losses)

    def per_second(self, now: float) -> float:
        """The decisions per second over the last minute."""
        return sum(self.last_minute(now)) / MINUTE

    def last_minute(self, now: float) -> list[int]:
        """The numbers of decisions in each second of the last minute, the latest last."""
        counts, since = [0] * MINUTE, int(now) - MINUTE
        for second, number in self._per_second:
            if since < second <= since + MINUTE:
                counts[second - since - 1] = number
        return counts

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All numbers as named arrays, for a snapshot."""
        found: dict[str, NDArray[Any]] = {
            "decided": self.decided, "expired": self.expired, "cancelled": self.cancelled,
            "told_as": self.told_as,
        }  # fmt: skip
        for name in MOMENTS:
            for part, array in getattr(self, name)._asdict().items():
                found[f"{name}.{part}"] = array
        points = self.history.points
        found["history.round"] = np.array([point[0] for point in points], dtype=np.int64)
        found["history.at"] = np.array([point[1] for point in points], dtype=np.float64)
        width = len(self.decided)
        found["delays"] = self.delays.rows()
        found["history.q"] = np.array([point[2] for point in points]).reshape(len(points), width)
        return found

    def restore(self, arrays: dict[str, NDArray[Any]], every: int, recent: list[list[Any]]) -> None:
        """Set all numbers to those of a snapshot."""
        for name, array in self.arrays().items():
            if name != "delays" and not name.startswith("history."):
                np.copyto(array, arrays[name], casting="no")
        parts = (arrays["history.round"], arrays["history.at"], arrays["history.q"])
        self.delays.restore(arrays["delays"])
        self.history.every = every
        self.history.points = [
            (int(round_), float(at), q.copy()) for round_, at, q in zip(*parts, strict=True)
        ]
        self.recent.extend(recent)


def widened(part: NDArray[Any], arms: int) -> NDArray[Any]:
    """Numbers by arm, with zeros for new arms."""
    return np.concatenate([part, np.zeros(arms - len(part), dtype=part.dtype)])
