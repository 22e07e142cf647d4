"""Sums and weights of the last hour, day and week: of the right decisions, and bounded."""

import random
from itertools import pairwise

import numpy as np
import pytest

from belated.service.core.arms import ArmHistory
from belated.service.core.stats import ProblemStats
from belated.service.core.told_values import ToldValue
from belated.service.statistics.sums_over_time import (
    DECIDED,
    LOSSES,
    SQUARES,
    TOLD,
    WIDTHS,
    SumsOverTime,
)
from belated.service.statistics.weights_over_time import RANGES, RecentWeights

MONTH = 30 * 86_400.0
PLACES = np.arange(2)


def traffic(seed: int) -> list[tuple[float, int, float | None, float]]:
    """Decisions of a month as (time, arm, loss or None, time of the loss), in order."""
    chance, found = random.Random(seed), []
    for at in sorted(chance.uniform(0.0, MONTH) for _ in range(1500)):
        loss = chance.random() if chance.random() < 0.8 else None
        found.append((at, chance.randrange(2), loss, at + chance.expovariate(1 / 20_000.0)))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_the_sums_are_those_of_the_decisions_since_then(seed: int) -> None:
    """As counted one by one; the time they begin at is within one width of the wanted one."""
    sums, plays = SumsOverTime(2), traffic(seed)
    events = [(at, 0, k) for k, (at, *_) in enumerate(plays)]
    events += [(told, 1, k) for k, (_, _, loss, told) in enumerate(plays) if loss is not None]
    for at, kind, k in sorted(event for event in events if event[0] <= MONTH):
        decided, arm, loss, _ = plays[k]
        if kind == 0:
            sums.add_decision(at, arm)
        else:
            sums.add_outcome(decided, arm, TOLD, loss)
    for (name, each), width in zip(RANGES.items(), WIDTHS, strict=True):
        since, found = sums.of_last(name, MONTH)
        assert MONTH - each.seconds - width <= since <= MONTH - each.seconds + width
        expected = np.zeros((6, 2))
        for at, arm, loss, told in plays:
            if at >= since:
                expected[DECIDED, arm] += 1
                if loss is not None and told <= MONTH:
                    expected[[TOLD, LOSSES, SQUARES], arm] += (1.0, loss, loss * loss)
        np.testing.assert_allclose(found, expected, atol=1e-9)
        assert found[DECIDED].sum() > 0 or name == "hour"


def test_the_sums_are_few() -> None:
    """Whatever the traffic, and however many arms there are."""
    for arms, most in ((2, 60), (1000, 10)):
        sums = SumsOverTime(arms)
        for at in np.arange(0.0, MONTH, 250.0):
            sums.add_decision(float(at), 0)
        assert 4 <= len(sums.arrays()["sums.key"]) <= most


def test_recent_weights_are_within_their_range() -> None:
    """One point of before stays, for what was in force as the range began."""
    recent = RecentWeights(2, RANGES["hour"])
    for k in range(2000):
        share = np.array([k / 2000, 1 - k / 2000])
        recent.add(k + 1, 10.0 * k, lambda share=share: share, PLACES)
    points = recent.until(20_000.0)
    assert points[0][1] == 20_000.0 - 3600.0
    assert 0.79 <= points[0][2][0] <= 0.82
    assert 60 <= len(points) <= 62
    assert all(later[1] - point[1] >= 39.0 for point, later in pairwise(points))
    assert [point[0] for point in recent.until(40_000.0)] == [recent.points[-1][0]]


def test_new_arms_have_no_past() -> None:
    """They have zeros in all earlier sums and weights."""
    stats = ProblemStats(ArmHistory.first(["a"]))
    stats.add_decision(1, 10.0, "a", lambda: np.ones(1))
    stats.change_arms(ArmHistory(("a", "b"), ("a", "b"), 1))
    stats.add_decision(2, 100.0, "b", lambda: np.array([0.4, 0.6]))
    stats.add_told("b", ToldValue(0.5, None, 0.5), 1, 100.0, 200.0)
    assert stats.sums.of_last("hour", 300.0).sums[DECIDED].tolist() == [1.0, 1.0]
    assert [point[2].tolist() for point in stats.weights_of("hour", 300.0)] == [[1, 0], [0.4, 0.6]]


def test_a_snapshot_changes_nothing() -> None:
    """Restored in the middle, the statistics go on as they would have, bit for bit."""
    whole, arms = ProblemStats(ArmHistory.first(["a", "b"])), ["a", "b"]
    parts = ProblemStats(ArmHistory.first(arms))
    for k, (at, arm, loss, _) in enumerate(traffic(7)):
        if k == 700:
            saved = {name: array.copy() for name, array in parts.arrays().items()}
            every, parts = parts.history.every, ProblemStats(ArmHistory.first(arms))
            parts.restore(saved, every, [])
        for stats in (whole, parts):
            stats.add_decision(k + 1, at, arms[arm], lambda: np.array([0.5, 0.5]))
            if loss is not None:
                stats.add_told(arms[arm], ToldValue(loss, None, loss), 1, at, at + 30.0)
    found = parts.arrays()
    for name, array in whole.arrays().items():
        assert array.tobytes() == found[name].tobytes(), name


def test_statistics_of_format_6_are_read() -> None:
    """They have no sums over time; each play has the mean loss of its arm."""
    old = ProblemStats(ArmHistory.first(["a", "b"]))
    for loss in (0.2, 0.4):
        old.add_told("a", ToldValue(loss, None, loss), 1, 0.0, 5.0)
    old.add_expired("a", ToldValue(1.0, None, 1.0), 0.0, 60.0)
    arrays = {
        name: array
        for name, array in old.arrays().items()
        if not name.startswith(("sums", "history-"))
    }
    arrays["delays"] = arrays["delays"][:, :5]
    new = ProblemStats(ArmHistory.first(["a", "b"]))
    new.restore(arrays, 1, [])
    bins = sorted(new.delays.of(0).items())
    assert [(each.told, each.expired) for _, each in bins] == [(2, 0), (0, 1)]
    assert [each.losses for _, each in bins] == pytest.approx([0.6, 1.0])
    assert new.sums.of_last("week", 100.0).sums.sum() == 0.0
