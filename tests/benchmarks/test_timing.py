"""The timing, by a clock that the test itself winds."""

import pytest

from benchmarks.measure import Goal, Result, at_least, at_most, exactly
from benchmarks.timing import Contestant, Race, Spread, race, sized


class Clock:
    """A clock that stands still unless somebody works."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now

    def worker(self, cost: int) -> "Worker":
        """Somebody whose unit of work takes `cost` nanoseconds."""
        return Worker(self, cost)


class Worker:
    """Moves the clock while it works."""

    def __init__(self, clock: Clock, cost: int) -> None:
        self.clock, self.cost = clock, cost

    def __call__(self, count: int) -> None:
        self.clock.now += self.cost * count


def test_turns_are_rotated_and_the_first_is_not_timed() -> None:
    """Everybody works once in each turn, whoever begins; preparing takes no measured time."""
    clock, order = Clock(), []

    def contestant(name: str) -> Contestant:
        def work(count: int) -> None:
            order.append(name)
            clock.now += 10 * count

        return Contestant(name, work, batch=2)

    def prepare() -> None:
        order.append("prepare")
        clock.now += 10**6

    result = race([contestant(name) for name in "abc"], 2, prepare, clock)
    assert " ".join(order) == "prepare a b c prepare b c a prepare c a b"
    assert result.seconds == {name: [1e-8, 1e-8] for name in "abc"}


def test_time_is_for_a_unit_of_work() -> None:
    """Batches of different sizes are compared by the unit."""
    clock = Clock()
    contestants = [
        Contestant("quick", clock.worker(100), batch=50),
        Contestant("slow", clock.worker(300), batch=2),
    ]
    result = race(contestants, 3, clock=clock)
    assert result.time("quick").median == pytest.approx(1e-7)
    assert result.ratio("slow", to="quick").median == pytest.approx(3.0)


def test_ratios_are_formed_within_a_turn() -> None:
    """A machine that becomes ten times slower for a turn changes times, not ratios."""
    result = Race({"ours": [1.0, 10.0, 1.0], "theirs": [2.0, 20.0, 2.0]})
    assert result.ratio("theirs", to="ours") == Spread(2.0, 2.0, 2.0)
    assert result.time("ours") == Spread(1.0, 1.0, 5.5)


def test_spread_is_median_and_quartiles() -> None:
    """Of any order."""
    assert Spread.of([5.0, 1.0, 2.0, 4.0, 3.0]) == Spread(3.0, 2.0, 4.0)


def test_batches_are_sized_by_trying() -> None:
    """As many units as fill the time; at least one, and never too many."""
    clock = Clock()
    assert sized("a", clock.worker(1000), 0.001, clock).batch == 1000
    assert sized("b", clock.worker(10**9), 0.001, clock).batch == 1
    assert sized("c", clock.worker(0), 0.001, clock).batch == 20_000


@pytest.mark.parametrize(
    ("goal", "value", "met"),
    [
        (at_most(2.0), 2.0, True),
        (at_most(2.0), 2.1, False),
        (at_least(2.0), 2.0, True),
        (at_least(2.0), 1.9, False),
        (None, 1.0, None),
    ],
)
def test_goals_are_on_the_right_side(goal: Goal | None, value: float, met: bool | None) -> None:
    """The limit itself is good enough; without a goal there is nothing to meet."""
    assert Result("anything", exactly(value), goal=goal).met is met
