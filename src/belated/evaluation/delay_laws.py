"""How late outcomes come: two estimates of the law of delays from a log that ends.

A row has an age, the time from its decision to the end of the log, and is told only if its delay
is at most its age. Both estimates are step functions of the age and take a weight for each row,
so that a bootstrap can fit them again: weights are then how often each row was drawn. Weights may
have a first axis for many such draws.
"""

from typing import NamedTuple, Protocol

import numpy as np

from belated.arrays import Counts, Floats


class Law(Protocol):
    """A law of delays that can be fitted to weighted rows: times of its steps, and its values."""

    times: Floats

    def values(self, weights: Floats) -> Floats:
        """Return the chance to be told by each of `times`; before the first it is `before`."""
        ...

    def before(self, weights: Floats) -> Floats:
        """Return the chance to be told before the first of `times`."""
        ...


class _Groups(NamedTuple):
    """Rows in the order of a time, and where each different time begins."""

    order: Counts
    starts: Counts
    times: Floats

    @classmethod
    def of(cls, times: Floats) -> "_Groups":
        order = np.argsort(times, kind="stable")
        different, starts = np.unique(times[order], return_index=True)
        return cls(order, starts, different)

    def sums(self, weights: Floats) -> Floats:
        """The weight of the rows of each different time."""
        if not self.times.size:
            return np.zeros((*weights.shape[:-1], 0))
        found: Floats = np.add.reduceat(weights[..., self.order], self.starts, axis=-1)
        return found


def _share(part: Floats, total: Floats) -> Floats:
    """Return part / total, and 0 where nothing is left to divide."""
    return np.divide(part, total, out=np.zeros_like(part), where=total > 0.0)


class KaplanMeier:
    """1 - the Kaplan-Meier survival of delays; rows that were not told are censored at their age.

    It estimates the chance that a row is told by an age, also if some are never told, for delays
    that do not depend on the outcome.
    """

    def __init__(self, delays: Floats, ages: Floats) -> None:
        self._told = ~np.isnan(delays)
        self._events = _Groups.of(delays[self._told])
        self.times = self._events.times
        seen = np.where(self._told, delays, ages)
        self._seen = _Groups.of(seen)
        self._first = np.searchsorted(self._seen.times, self.times)

    def values(self, weights: Floats) -> Floats:
        """Return the chance to be told by each of the times at which one was."""
        happened = self._events.sums(weights[..., self._told])
        by_time = self._seen.sums(weights)
        at_risk = np.flip(np.cumsum(np.flip(by_time, -1), axis=-1), -1)[..., self._first]
        told = 1.0 - np.cumprod(1.0 - _share(happened, at_risk), axis=-1)
        return np.asarray(told, dtype=np.float64)

    def before(self, weights: Floats) -> Floats:
        """Return 0: nothing is told before the shortest delay."""
        return np.zeros(weights.shape[:-1])


class RightTruncated:
    """The product limit of delays that are seen only if they are shorter than their row's age.

    F(u) = prod over v > u of (1 - n_v / N_v), where n_v rows were told after exactly v, and N_v
    after at most v while they were at least v old. It is the law of what comes within the oldest
    age. A time v at which n_v = N_v, though shorter delays were told, is passed over. None of those
    rows was old enough to be compared, and a single one would make F zero at all earlier times.
    """

    def __init__(self, delays: Floats, ages: Floats) -> None:
        self._told = ~np.isnan(delays)
        told, limits = delays[self._told], ages[self._told]
        self._events = _Groups.of(told)
        self.times = self._events.times
        self._limits = _Groups.of(limits)
        self._younger = np.searchsorted(self._limits.times, self.times)  # limits below each time

    def _kept(self, weights: Floats) -> Floats:
        """Return 1 - n_v / N_v for each time v."""
        told = weights[..., self._told]
        happened = self._events.sums(told)
        until = np.cumsum(happened, axis=-1)
        limits = np.cumsum(self._limits.sums(told), axis=-1)
        none = np.zeros((*told.shape[:-1], 1))
        gone = np.concatenate([none, limits], axis=-1)[..., self._younger]
        at_risk = until - gone
        is_alone = (at_risk <= happened) & (until > happened)
        return np.where(is_alone, 1.0, 1.0 - _share(happened, at_risk))

    def values(self, weights: Floats) -> Floats:
        """Return F at each time: the product over the times after it."""
        kept = self._kept(weights)
        ones = np.ones((*kept.shape[:-1], 1))
        after = np.concatenate([kept[..., 1:], ones], axis=-1)
        share: Floats = np.flip(np.cumprod(np.flip(after, -1), axis=-1), -1)
        return share

    def before(self, weights: Floats) -> Floats:
        """Return F before the shortest delay, which is 0 if any row was told."""
        before: Floats = self._kept(weights).prod(axis=-1)
        return before if self.times.size else np.ones(weights.shape[:-1])


class LawAtAges(NamedTuple):
    """A law and where the ages of some rows are among the times of its steps."""

    law: Law
    places: Counts  # the step that is in force at each age; -1 before the first

    @classmethod
    def of(cls, law: Law, ages: Floats) -> "LawAtAges":
        """Look up ages once, for many fits of the law."""
        return cls(law, np.searchsorted(law.times, ages, side="right") - 1)

    def chances(self, weights: Floats) -> Floats:
        """Return the chance of each age that its row is told by then."""
        steps = np.concatenate(
            [self.law.before(weights)[..., None], self.law.values(weights)], axis=-1
        )
        found: Floats = steps[..., self.places + 1]
        return found


def median_delay(delays: Floats, ages: Floats, weights: Floats) -> float:
    """Return the time within which half of what comes has come (truncated law); NaN if none."""
    law = RightTruncated(delays, ages)
    if not law.times.size:
        return float("nan")
    place = int(np.searchsorted(law.values(weights), 0.5))
    return float(law.times[min(place, law.times.size - 1)])
