"""The delays of arms are estimated rightly although many plays wait still, or have expired."""

import random

import pytest

from belated.service.core.arms import ArmHistory
from belated.service.core.stats import ProblemStats
from belated.service.core.told_values import ToldValue
from belated.service.statistics.delays import DelayBins, bin_of, delay_estimate, edges_of, end_of

NEAR = 0.09  # how far a quantile may be off, as a share of it: a bin


def estimated(delays: list[float], ages: list[float], window: float) -> dict[str, float]:
    """The estimate for plays with these true delays that were made so long ago."""
    bins, waiting = DelayBins(), []
    for delay, age in zip(delays, ages, strict=True):
        if delay <= min(age, window):
            bins.add_told(0, delay, 0.5)
        elif window <= age:
            bins.add_expired(0, window, 1.0)
        else:
            waiting.append(age)
    edges = edges_of([bins.of(0)])
    between = zip([0.0, *edges], [*edges, float("inf")], strict=True)
    counts = [sum(low <= age < high for age in waiting) for low, high in between]
    return delay_estimate(bins.of(0), edges, counts)


def literal_median(delays: list[float], ages: list[float], window: float) -> float:
    """The median as Kaplan and Meier write it, play by play."""
    untold = 1.0
    waited = [min(age, window) for age in ages]
    plays = [(min(d, w), d <= w) for d, w in zip(delays, waited, strict=True)]
    for seconds in sorted(until for until, is_told in plays if is_told):
        at_risk = sum(until >= seconds for until, _ in plays)
        untold *= 1.0 - sum(each == (seconds, True) for each in plays) / at_risk
        if untold <= 0.5:
            return seconds
    raise AssertionError("fewer than half are told")


def test_what_waits_and_what_expired_counts() -> None:
    """Delays of 25 s on average, given up after 30 s: half are told within 17 s, 70 % in time.

    The mean of those told would be 11 s, and their median 9 s.
    """
    chance = random.Random(1)
    delays = [chance.expovariate(1 / 25.0) for _ in range(4000)]
    ages = [chance.uniform(0.0, 100.0) for _ in delays]
    found = estimated(delays, ages, 30.0)
    assert found["median"] == pytest.approx(17.3, rel=NEAR)
    assert found["median_low"] <= 17.3 <= found["median_high"]
    assert found["told_share"] == pytest.approx(0.70, abs=0.03)
    assert found["quantiles"]["0.75"] is None  # type: ignore[index]
    assert found["mean_within"] == pytest.approx(17.5, rel=NEAR)  # of min(delay, 30)


@pytest.mark.parametrize("seed", range(5))
def test_the_bins_are_fine_enough(seed: int) -> None:
    """Very short and very long delays, few plays: as the literal estimate, but for the bins."""
    chance = random.Random(seed)
    delays = [chance.lognormvariate(3.0, 2.0) for _ in range(300)]
    ages = [chance.uniform(0.0, 400.0) for _ in delays]
    found = estimated(delays, ages, 200.0)
    assert found["median"] == pytest.approx(literal_median(delays, ages, 200.0), rel=NEAR)


def test_a_delay_is_in_its_bin() -> None:
    """From nothing at all to longer than anything."""
    for seconds in (1e-3, 0.02, 1.0, 59.9, 86_400.0, 3e9):
        place = bin_of(seconds)
        assert end_of(place - 1) <= seconds * (1 + 1e-9)
        assert seconds <= end_of(place) * (1 + 1e-9)
    assert bin_of(-1.0) == bin_of(0.0) == 0
    assert bin_of(1e300) == bin_of(1e200)


def test_nothing_told() -> None:
    """Then nothing is known, however many wait."""
    found = delay_estimate({}, [], [7])
    assert (found["told"], found["censored"], found["median"], found["watched"]) == (
        0,
        7,
        None,
        None,
    )


def test_an_expired_play_counts_with_the_loss_that_was_learned() -> None:
    """One told with 0, one expired with 1: the mean that the learner knows is a half."""
    stats = ProblemStats(ArmHistory.first(["red"]))
    stats.add_told("red", ToldValue(0.0, None, 0.0), 1, 100.0, 105.0)
    stats.add_expired("red", ToldValue(1.0, None, 1.0), 100.0, 130.0)
    stats.add_cancelled("red", 100.0)
    assert stats.losses.shown(0)["mean"] == 0.5
    assert (stats.told.shown(0)["mean"], stats.told.shown(0)["count"]) == (0.0, 1)


def test_a_snapshot_keeps_the_bins() -> None:
    """Bit for bit."""
    bins, other = DelayBins(), DelayBins()
    for place, seconds in ((3, 0.1), (0, 7.5), (3, 0.11), (0, 1e5)):
        bins.add_told(place, seconds, 0.3)
        bins.add_expired(place, 9.0, 0.7)
    other.restore(bins.rows())
    assert (other.rows() == bins.rows()).all()
    assert other.of(3) == bins.of(3)
