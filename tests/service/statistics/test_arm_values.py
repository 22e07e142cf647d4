"""What an arm is worth in the end: as a literal sum, and right although outcomes are awaited."""

import random
import statistics
from typing import NamedTuple

import pytest

from belated.service.statistics.arm_values import ArmValue, arm_value
from belated.service.statistics.delays import DelayBins, edges_of


class Play(NamedTuple):
    """A play: its loss if it is told, after which delay (infinite: never), and how old it is."""

    loss: float
    delay: float
    age: float


class Seen(NamedTuple):
    """What is known of some plays: those closed, in bins, and those that wait, by age."""

    bins: DelayBins
    edges: list[float]
    waiting: list[int]
    closed: list[float]
    ages: list[float]

    def value(self, default: float | None) -> ArmValue:
        """The value of the arm."""
        found = arm_value(self.bins.of(0), self.edges, self.waiting, default)
        assert found is not None
        return found


def seen(plays: list[Play], window: float = float("inf")) -> Seen:
    """What is known of plays that expire after a window with a loss of 1."""
    bins, closed, ages = DelayBins(), [], []
    for loss, delay, age in plays:
        if delay <= min(age, window):
            bins.add_told(0, delay, loss)
            closed.append(loss)
        elif window <= age:
            bins.add_expired(0, window, 1.0)
            closed.append(1.0)
        else:
            ages.append(age)
    edges = edges_of([bins.of(0)])
    between = zip([0.0, *edges], [*edges, float("inf")], strict=True)
    waiting = [sum(low <= age < high for age in ages) for low, high in between]
    return Seen(bins, edges, waiting, closed, ages)


def slow_losses(chance: random.Random, number: int, oldest: float) -> list[Play]:
    """Half of the plays lose 1; losses come within 400 s, wins at once. The true mean is 0.5."""
    plays = []
    for _ in range(number):
        loss = float(chance.random() < 0.5)
        delay = chance.uniform(0.0, 400.0 if loss else 5.0)
        plays.append(Play(loss, delay, chance.uniform(0.0, oldest)))
    return plays


def test_with_nothing_awaited_it_is_the_mean() -> None:
    """And its interval is the usual one."""
    losses = [0.0, 0.25, 1.0, 0.5, 0.5, 0.75]
    found = seen([Play(loss, 3.0 + k, 1e6) for k, loss in enumerate(losses)]).value(None)
    assert found.mean == pytest.approx(statistics.fmean(losses), abs=1e-12)
    half = 1.96 * statistics.stdev(losses) / len(losses) ** 0.5
    assert found.half_width == pytest.approx(half, rel=1e-9)


def test_by_hand() -> None:
    """Three plays: told 0 after 10 s; awaited for 50 s; told 1 after 100 s.

    After 10 s two thirds are open. Of the two at risk then one is told after 100 s, of one at risk:
    so 1/3 x 0 + 2/3 x 1.
    """
    plays = [Play(0.0, 10.0, 1e3), Play(0.5, 1e9, 50.0), Play(1.0, 100.0, 1e3)]
    found = seen(plays).value(None)
    assert found.mean == pytest.approx(2 / 3)
    assert found.of_age(50.0) == pytest.approx(1.0)
    assert found.of_age(0.0) == pytest.approx(2 / 3)


@pytest.mark.parametrize("default", [None, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_each_awaited_play_counts_as_its_age_says(seed: int, default: float | None) -> None:
    """The estimate is consistent with itself: the mean of what is known and what is expected."""
    plays = seen(slow_losses(random.Random(seed), 120, 500.0), 600.0)
    found = plays.value(default)
    lower = [0.0, *plays.edges]
    expected = sum(n * found.of_age(age) for age, n in zip(lower, plays.waiting, strict=True))
    total = len(plays.closed) + sum(plays.waiting)
    assert found.mean == pytest.approx((sum(plays.closed) + expected) / total, abs=1e-9)


def test_slow_losses_do_not_flatter() -> None:
    """The mean of those told would be 0.44; 95 % of the intervals cover the truth."""
    chance, covered, means, told = random.Random(1), 0, [], []
    for _ in range(200):
        plays = seen(slow_losses(chance, 400, 900.0))
        found = plays.value(None)
        assert found.half_width is not None
        covered += abs(found.mean - 0.5) <= found.half_width
        means.append(found.mean)
        told.append(statistics.fmean(plays.closed))
    assert statistics.fmean(told) < 0.45
    assert statistics.fmean(means) == pytest.approx(0.5, abs=0.01)
    assert 0.91 <= covered / 200 <= 0.98


def test_silence_counts_with_the_default() -> None:
    """Four in ten report a loss of 0 within 60 s, all others are silent: the loss is 0.6."""
    chance = random.Random(2)
    plays = []
    for _ in range(4000):
        delay = chance.uniform(0.0, 60.0) if chance.random() < 0.4 else float("inf")
        plays.append(Play(0.0, delay, chance.uniform(0.0, 600.0)))
    assert seen(plays).value(1.0).mean == pytest.approx(0.6, abs=0.03)
    assert seen(plays).value(None).mean == 0.0  # nobody has said what silence means
    assert seen(plays, 100.0).value(1.0).mean == pytest.approx(0.6, abs=0.03)


def test_some_of_the_plays() -> None:
    """What is closed counts as it is, what waits as all plays of its age turn out."""
    found = seen(slow_losses(random.Random(3), 400, 900.0)).value(None)
    some = found.among(10.0, 2.0, 2.0, [(0.0, 5.0), (100.0, 5.0)])
    assert some is not None
    expected = (2.0 + 5.0 * found.of_age(0.0) + 5.0 * found.of_age(100.0)) / 20.0
    assert some.mean == pytest.approx(expected)
    assert found.half_width is not None
    halves = 1.96 * (1.6 / 9 / 10) ** 0.5, found.half_width
    assert some.half_width == pytest.approx(sum(halves) / 2.0)  # half of the plays wait
    alike = found.among(10.0, 0.0, 0.0, [(0.0, 990.0)])
    assert alike is not None
    assert alike.half_width == pytest.approx(0.99 * found.half_width)
    assert found.among(0.0, 0.0, 0.0, []) is None


def test_nothing_closed() -> None:
    """Then nothing is known."""
    assert arm_value({}, [], [7], 1.0) is None
