"""The statistics of a problem, which the dashboard shows; folded from the journal like the learner.

No decision depends on them. Times are those of the journal, so that all workers that fold the same
events have the same statistics.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.service.core.arms import ArmHistory
from belated.service.core.told_values import NOTHING_TOLD, ToldValue
from belated.service.statistics import sums_over_time
from belated.service.statistics.calibration import ForetoldRewards
from belated.service.statistics.delays import DelayBin, DelayBins
from belated.service.statistics.moments import Moments, widened
from belated.service.statistics.sums_over_time import SumsOverTime
from belated.service.statistics.weights_over_time import (
    ALL,
    RANGES,
    RecentWeights,
    WeightHistory,
    WeightPoint,
)

MOST_EVENTS = 50
MINUTE = 60  # seconds
MOMENTS = ("losses", "told", "late", "rounds")


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
        self.delays, self.calibration = DelayBins(), ForetoldRewards()
        self.told_as = np.zeros(2, dtype=np.int64)  # how often as a loss, and as a reward
        self.decided, self.expired, self.cancelled = np.zeros((3, arms), dtype=np.int64)
        # of what was reported out of a soft range: how many, and the sums above and below the range
        self.clipped = np.zeros((arms, 3))
        self.history = WeightHistory(arms)
        self.recent_weights = {name: RecentWeights(arms, each) for name, each in RANGES.items()}
        self.sums = SumsOverTime(arms)
        self._weights: list[WeightHistory | RecentWeights] = [
            self.history,
            *self.recent_weights.values(),
        ]
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
        self.sums.widen(arms)
        for history in self._weights:
            history.widen(arms)
        self._take_places(arm_history)

    def add_decision(
        self, round_: int, at: float, arm: str | None, weights: Callable[[], Floats]
    ) -> None:
        """Count a decision; `weights` says those of the present arms, in no context."""
        decided = self._present if arm is None else self.places[arm]
        self.decided[decided] += 1
        self.sums.add_decision(at, decided)
        for history in self._weights:
            history.add(round_, at, weights, self._present)
        second = int(at)
        if self._per_second and self._per_second[-1][0] == second:
            self._per_second[-1][1] += 1
        else:
            self._per_second.append([second, 1])

    def add_told(
        self, arm: str, value: ToldValue, rounds: int, decided_at: float, at: float
    ) -> None:
        """Count a loss or reward that was told so many rounds after its decision."""
        place = self.places[arm]
        assert value.unit_loss is not None
        self.losses.add(place, value.unit_loss)
        self.told.add(place, value.unit_loss)
        if value.was_loss or value.was_reward:
            self.told_as[int(value.was_reward)] += 1
        self.rounds.add(place, float(rounds))
        self.delays.add_told(place, at - decided_at, value.unit_loss)
        self.sums.add_outcome(decided_at, place, sums_over_time.TOLD, value.unit_loss)

    def add_clipped(self, arm: str, excess: float) -> None:
        """Count what was reported of an arm if it lies so far out of the soft range."""
        if excess:
            self.clipped[self.places[arm]] += (1.0, max(excess, 0.0), min(excess, 0.0))

    def add_late(self, arm: str, value: ToldValue) -> None:
        """Count a report that came after its play had expired."""
        if value.unit_loss is not None and arm in self.places:
            self.late.add(self.places[arm], value.unit_loss)

    def add_expired(self, arm: str, value: ToldValue, decided_at: float, at: float) -> None:
        """Count a play that expired, with the loss that it counts with."""
        place = self.places[arm]
        assert value.unit_loss is not None
        self.expired[place] += 1
        self.losses.add(place, value.unit_loss)
        self.delays.add_expired(place, at - decided_at, value.unit_loss)
        self.sums.add_outcome(decided_at, place, sums_over_time.EXPIRED, value.unit_loss)

    def add_cancelled(self, arm: str, decided_at: float) -> None:
        """Count a play that was cancelled; nothing of it is in the losses and delays."""
        place = self.places[arm]
        self.cancelled[place] += 1
        self.sums.add_outcome(decided_at, place, sums_over_time.CANCELLED, None)

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

    def weights_of(self, range_: str, now: float) -> list[WeightPoint]:
        """The weights over time of a range that ends now, or of all time."""
        return self.history.points if range_ == ALL else self.recent_weights[range_].until(now)

    @property
    def tells_rewards(self) -> bool:
        """Whether most of what was reported was told as a reward."""
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
            "told_as": self.told_as, "calibration": self.calibration.sums,
        }  # fmt: skip
        for name in MOMENTS:
            for part, array in getattr(self, name)._asdict().items():
                found[f"{name}.{part}"] = array
        width = len(self.decided)
        found["delays"] = self.delays.rows()
        for name, points in self._histories().items():
            found[f"{name}.round"] = np.array([point[0] for point in points], dtype=np.int64)
            found[f"{name}.at"] = np.array([point[1] for point in points], dtype=np.float64)
            found[f"{name}.q"] = np.array([point[2] for point in points]).reshape(-1, width)
        return found | self.sums.arrays()

    def _histories(self) -> dict[str, list[WeightPoint]]:
        recent = {f"history-{name}": each.points for name, each in self.recent_weights.items()}
        return {"history": self.history.points, **recent}

    def restore(
        self, arrays: Mapping[str, NDArray[Any]], every: int, recent: list[list[Any]]
    ) -> None:
        """Set all numbers to those of a snapshot; what those of old formats lack starts afresh."""
        for name in ("decided", "expired", "cancelled", "told_as"):
            np.copyto(getattr(self, name), arrays[name], casting="no")
        for name in MOMENTS:
            for part, array in getattr(self, name)._asdict().items():
                np.copyto(array, arrays[f"{name}.{part}"], casting="no")
        self.delays.restore(self._with_losses(arrays["delays"]))
        self.history.every = every
        self.history.points = points_in(arrays, "history")
        for name, history in self.recent_weights.items():
            if f"history-{name}.at" in arrays:
                history.points = points_in(arrays, f"history-{name}")
                history.widen(len(self.decided))
        if "calibration" in arrays:
            np.copyto(self.calibration.sums, arrays["calibration"], casting="no")
        if "sums.key" in arrays:
            self.sums.restore(arrays["sums.key"], arrays["sums.part"])
        self.recent.extend(recent)

    def _with_losses(self, bins: Floats) -> Floats:
        """Bins of delays with losses; in those of format 6 each play has its arm's mean loss."""
        if bins.shape[1] == 2 + len(DelayBin._fields):
            return bins
        counted, told = self.losses.sums(), self.told.sums()
        arm, in_time, expired = bins[:, 0].astype(np.int64), bins[:, 2], bins[:, 4]
        columns = []
        for of_all, of_told in zip(counted, told, strict=True):
            mean_told = of_told / np.maximum(1, self.told.number)
            mean_expired = (of_all - of_told) / np.maximum(1, self.expired)
            columns.append(in_time * mean_told[arm] + expired * mean_expired[arm])
        return np.column_stack([bins, *columns])


def points_in(arrays: Mapping[str, NDArray[Any]], name: str) -> list[WeightPoint]:
    """The points of a history of weights in a snapshot."""
    parts = (arrays[f"{name}.round"], arrays[f"{name}.at"], arrays[f"{name}.q"])
    return [(int(round_), float(at), q.copy()) for round_, at, q in zip(*parts, strict=True)]
