"""Delays by arm: counted in bins while the journal is folded, and estimated by Kaplan-Meier.

A play of which no outcome has come yet, or that expired, has a delay longer than it waited. To
leave it out would make slow arms look fast. Kaplan and Meier count such a play among those that an
outcome could have come of, for as long as it waited, and no longer.

The bins are an eighth of an octave wide, from a millisecond on, and only those in use are kept. So
the memory of an arm is bounded, and a quantile is off by a few per cent at most.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

SHORTEST = 1e-3  # seconds; delays up to here are in the first bin
PER_OCTAVE = 8  # bins
LAST_BIN = 60 * PER_OCTAVE
MOST_EDGES = 64  # ages between which the store counts what waits
SHARES = (0.25, 0.5, 0.75, 0.9)  # of all plays; the delays within which these are told
Z = 1.96  # of a 95 % interval
ROUNDING = 1e-12


class DelayBin(NamedTuple):
    """The plays whose delay, or whose time until they expired, lies in one bin."""

    told: int = 0
    seconds: float = 0.0  # the sum of the delays of those told
    expired: int = 0
    losses: float = 0.0  # the sum of what told and expired ones count with, in [0, 1]
    squares: float = 0.0  # the sum of the squares of these losses

    @property
    def closed(self) -> int:
        """The plays of which no outcome is awaited any more."""
        return self.told + self.expired


class SurvivalStep(NamedTuple):
    """The share of plays not told after a bin, with its 95 % interval.

    `seconds` is the mean delay in the bin, which is from `start` to `end`.
    """

    start: float
    seconds: float
    end: float
    untold: float
    low: float
    high: float


class DelayBins:
    """How many plays of each arm were told, and expired, after which delays."""

    def __init__(self) -> None:
        self._by_arm: dict[int, dict[int, DelayBin]] = {}

    def add_told(self, arm: int, seconds: float, loss: float) -> None:
        """Count a play that was told after so many seconds, with its loss."""
        bins, place = self._by_arm.setdefault(arm, {}), bin_of(seconds)
        told, total, expired, losses, squares = bins.get(place, DelayBin())
        sums = (total + max(0.0, seconds), expired, losses + loss, squares + loss * loss)
        bins[place] = DelayBin(told + 1, *sums)

    def add_expired(self, arm: int, seconds: float, loss: float) -> None:
        """Count a play that expired after so many seconds, with the loss that it counts with."""
        bins, place = self._by_arm.setdefault(arm, {}), bin_of(seconds)
        told, total, expired, losses, squares = bins.get(place, DelayBin())
        bins[place] = DelayBin(told, total, expired + 1, losses + loss, squares + loss * loss)

    def of(self, arm: int) -> Mapping[int, DelayBin]:
        """The bins of an arm that are in use."""
        return self._by_arm.get(arm, {})

    def rows(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """All bins as rows of numbers in order, for a snapshot."""
        found = [
            (arm, place, *each)
            for arm, bins in sorted(self._by_arm.items())
            for place, each in sorted(bins.items())
        ]
        return np.array(found, dtype=np.float64).reshape(-1, 2 + len(DelayBin._fields))

    def restore(self, rows: np.ndarray[Any, np.dtype[np.float64]]) -> None:
        """Take the bins of a snapshot."""
        for arm, place, told, seconds, expired, losses, squares in rows.tolist():
            bins = self._by_arm.setdefault(int(arm), {})
            bins[int(place)] = DelayBin(int(told), seconds, int(expired), losses, squares)


def bin_of(seconds: float) -> int:
    """The bin of a delay."""
    if seconds <= SHORTEST:
        return 0
    return min(LAST_BIN, 1 + int(PER_OCTAVE * math.log2(seconds / SHORTEST)))


def end_of(place: int) -> float:
    """The delay at which a bin ends."""
    return float(SHORTEST * 2.0 ** (place / PER_OCTAVE))


def survival(
    bins: Mapping[int, DelayBin], ages: Sequence[float], waiting: Sequence[float]
) -> list[SurvivalStep]:
    """The Kaplan-Meier estimate, with a step for each bin in which plays were told.

    `waiting` has the numbers of plays that wait, between the rising `ages`, the youngest first. An
    outcome in a bin could have come of all that waited until the bin began. A play that expired in
    a bin is among them, because what was reported in it came before.
    """
    known = sum(each.told + each.expired for each in bins.values())
    steps: list[SurvivalStep] = []
    untold, variance = 1.0, 0.0
    for place, each in sorted(bins.items()):
        if each.told:
            start = end_of(place - 1) if place else 0.0
            at_risk = known + sum(waiting[bisect_right(ages, start) :])
            untold *= 1.0 - each.told / at_risk
            if at_risk > each.told:
                variance += each.told / (at_risk * (at_risk - each.told))  # Greenwood
            mean, interval = each.seconds / each.told, band(untold, variance)
            steps.append(SurvivalStep(start, mean, end_of(place), untold, *interval))
        known -= each.told + each.expired
    return steps


def edges_of(bins: Iterable[Mapping[int, DelayBin]]) -> list[float]:
    """The ages between which plays that wait must be counted; with many bins, not all of them."""
    begin = sorted({place for each in bins for place in each if place > 0})
    step = max(1, math.ceil(len(begin) / MOST_EDGES))
    return [end_of(place - 1) for place in begin[::step]]


def band(untold: float, variance: float) -> tuple[float, float]:
    """The 95 % interval of a share, by log(-log): it stays within 0 and 1."""
    if not 0.0 < untold < 1.0:
        return untold, untold
    width = math.exp(Z * math.sqrt(variance) / abs(math.log(untold)))
    return untold**width, untold ** (1.0 / width)


def quantile(steps: Sequence[SurvivalStep], share: float) -> float | None:
    """The delay within which this share of all plays is told; None if it was never reached."""
    return next((each.seconds for each in steps if each.untold <= 1.0 - share + ROUNDING), None)


def interval_of_median(steps: Sequence[SurvivalStep]) -> tuple[float | None, float | None]:
    """The 95 % interval of the median, widened to whole bins; None: it has no end yet."""
    low = next((each.start for each in steps if each.low <= 0.5 + ROUNDING), None)
    high = next((each.end for each in steps if each.high <= 0.5 + ROUNDING), None)
    return low, high


def delay_estimate(
    bins: Mapping[int, DelayBin], ages: Sequence[float], waiting: Sequence[float]
) -> dict[str, Any]:
    """The delays of an arm: quantiles of all its plays, told or not, and their median's interval.

    A quantile is None if fewer were told than that, even of those that waited longest.
    `told_share` is the share told within `watched` seconds, the longest that anything was told
    after; `mean_within` is the mean delay if every play counts with `watched` at most.
    """
    steps = survival(bins, ages, waiting)
    low, high = interval_of_median(steps)
    told = sum(each.told for each in bins.values())
    expired = sum(each.expired for each in bins.values())
    mean, before, untold = 0.0, 0.0, 1.0
    for step in steps:
        mean, before, untold = mean + untold * (step.seconds - before), step.seconds, step.untold
    return {
        "told": told,
        "censored": expired + sum(waiting),
        "quantiles": {f"{share:g}": quantile(steps, share) for share in SHARES},
        "median": quantile(steps, 0.5),
        "median_low": low,
        "median_high": high,
        "watched": before if steps else None,
        "told_share": 1.0 - untold if steps else None,
        "mean_within": mean if steps else None,
    }
