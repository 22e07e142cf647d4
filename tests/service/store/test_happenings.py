"""What happened in a piece of time: as counted one by one, of one problem, and never too many."""

import random

import pytest

from belated.service.store import Store
from tests.service.material import decision, told


@pytest.fixture
def filled(store: Store) -> Store:
    """A store with two problems, an outcome every second from 100 s on, and some notes."""
    store.create_problem("other", {"arms": ["red"]}, at=1.0)
    decisions, outcomes = [], []
    for k in range(60):
        name, ticket, arm = ("ads", "other")[k % 3 == 2], f"t{k}", ("red", "green")[k % 2]
        decisions.append(decision(ticket, problem=name, arm=arm, at=50.0))
        made = told(ticket, k / 100, arm, at=100.0 + k)
        outcomes.append(made._replace(kind="expired") if k % 5 == 0 else made)
    store.append(decisions, [])
    for outcome in outcomes:
        store.append([], [outcome])
    store.record("ads", "paused", {}, 130.5)
    store.record("ads", "late", {"ticket": "t0"}, 130.6)
    store.record("other", "paused", {}, 130.7)
    return store


def test_outcomes_between_two_times(filled: Store) -> None:
    """By kind and arm, with the sums of their losses; notes of the wanted kinds only."""
    for begin, end in ((100.0, 160.0), (120.0, 131.0), (0.0, 90.0), (155.5, 1e9)):
        expected: dict[tuple[str, str], tuple[int, float]] = {}
        for k in range(60):
            if begin <= 100.0 + k < end and k % 3 != 2:
                key = ("expired" if k % 5 == 0 else "told", ("red", "green")[k % 2])
                number, total = expected.get(key, (0, 0.0))
                expected[key] = (number + 1, total + k / 100)
        found = filled.happened("ads", (begin, end), ("paused",), 1000)
        assert found.outcomes.keys() == expected.keys()
        for key, (number, total) in expected.items():
            assert found.outcomes[key] == (number, pytest.approx(total))
        assert [note.at for note in found.notes] == [130.5] * (begin <= 130.5 < end)
        assert found.complete


def test_never_more_rows_than_the_limit(filled: Store) -> None:
    """What was left out is said."""
    found = filled.happened("ads", (0.0, 1e9), (), 20)
    assert not found.complete
    assert sum(number for number, _ in found.outcomes.values()) < 20


def test_an_empty_journal(store: Store) -> None:
    """Nothing has happened."""
    chance = random.Random(1)
    found = store.happened("nobody", (chance.random(), 5.0), ("paused",), 10)
    assert (dict(found.outcomes), found.notes, found.complete) == ({}, [], True)
