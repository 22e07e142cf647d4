"""Every measure runs, small, and yields what its row of the table promises."""

import math

import pytest

from benchmarks.catalogue import MEASURES
from benchmarks.measure import Effort, Result
from benchmarks.measures import startup
from benchmarks.peers import BANDITS, EXPERTS, SOLVERS

QUICK = Effort(quick=True)
LEARNERS = ("concealed", "partially-concealed", "full-information")


def results(number: int) -> list[Result]:
    """A measure taken quickly; every value of it is a number."""
    found = list(MEASURES[number - 1].run(QUICK))
    for result in found:
        assert math.isfinite(result.value.median)
        assert result.value.low <= result.value.median <= result.value.high
    return found


def test_the_measures_are_numbered_in_order() -> None:
    """In order, as everybody cites them."""
    assert [measure.number for measure in MEASURES] == list(range(1, 33))


@pytest.mark.parametrize("number", [1, 2, 3])
def test_rounds_are_compared_to_exp3(number: int) -> None:
    """For ten, a hundred and a thousand arms."""
    found = results(number)
    assert [(result.what, result.arms) for result in found] == [
        ("Exp3", 10), ("Exp3", 100), ("Exp3", 1000),
    ]  # fmt: skip
    assert all(result.goal and not result.goal.at_least for result in found)


def test_practical_learners_are_compared_to_those_of_the_paper() -> None:
    """For ten and a thousand arms; the goal is the bandit's."""
    found = results(18)
    assert [(result.what, result.arms, result.goal is None) for result in found] == [
        ("concealed", 10, False), ("full-information", 10, True),
        ("concealed", 1000, False), ("full-information", 1000, True),
    ]  # fmt: skip


def test_all_solvers_that_are_there_are_raced() -> None:
    """For ten and a hundred arms, with the goals of each."""
    names = [peer.name for peer in SOLVERS if peer.presence.usable]
    found = results(4)
    assert [(result.what, result.arms) for result in found] == [
        (name, arms) for arms in (10, 100) for name in names
    ]
    assert {result.goal.limit for result in found if result.goal} == {10_000.0, 5_000.0}


def test_all_bandits_that_are_there_are_raced() -> None:
    """Two arms are for information, ten have goals."""
    names = [name for peer in BANDITS if peer.presence.usable for name in peer.policies()]
    found = results(5)
    assert [result.what for result in found] == names * 2
    limits = {(result.what, result.arms): result.goal and result.goal.limit for result in found}
    assert limits["river Exp3", 10] == 1.5
    assert limits["river UCB", 10] == 1.0
    assert limits["river UCB", 2] is None


def test_all_learners_of_poold_are_raced() -> None:
    """The one without a goal is there for information."""
    found = {result.what: result.goal for result in results(6)}
    assert list(found) == list(EXPERTS[0].learners())
    assert [name for name, goal in found.items() if goal is None] == ["PoolD DUB"]


def test_passes_are_counted() -> None:
    """Two numbers for each learner and size."""
    found = results(7)
    assert len(found) == 2 * 3 * 3
    assert all(result.value.median >= 1.0 for result in found)


@pytest.mark.parametrize(
    ("number", "count"),
    [
        (8, 1),
        (9, 2),
        (10, 2),
        (12, 2),
        (14, 2),
        (15, 1),
        (16, 4),
        (17, 1),
        (19, 1),
        (26, 1),
        (27, 2),
        (28, 3),
        (29, 4),
        (31, 2),
        (32, 1),
    ],
)
def test_the_others_run(number: int, count: int) -> None:
    """As many results as they promise."""
    assert len(results(number)) == count


def test_a_first_decision_is_timed_with_and_without_its_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Interpreted, until it is compiled, and with the code kept; here of a small learner."""
    code = "import belated\nbelated.Bandit(3, learner='uniform').ask()\n"
    monkeypatch.setattr(startup, "FIRST", {"uniform": code})
    cold, compiled, warm = results(11)
    assert [each.goal and each.goal.limit for each in (cold, compiled, warm)] == [1.0, 20.0, 0.7]
    assert cold.value.median < compiled.value.median


def test_a_cold_service_is_asked_while_it_compiles() -> None:
    """Until it answers, and then for a while."""
    first, slowest = results(20)
    assert [each.goal and each.goal.limit for each in (first, slowest)] == [4.0, 0.5]


def test_an_edited_rival_is_compiled_again() -> None:
    """In a copy of the package: by a process that asks it, and by a test of it."""
    found = results(21)
    assert [result.what for result in found] == ["exp3-ix, edited: ask", "exp3-ix, edited: pytest"]
    assert all(result.goal and result.value.median > 0.0 for result in found)


@pytest.mark.parametrize("number", [22, 23])
def test_the_demo_and_the_wheel_are_for_full_benchmarks(number: int) -> None:
    """A quick one installs nothing."""
    assert results(number) == []
