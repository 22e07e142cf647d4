"""`verify` notices what was changed in the journal behind the service's back."""

import random
from contextlib import ExitStack
from typing import Any

import pytest
from sqlalchemy import text

from belated.service.admin.verify import ProblemVerification, verified_at_rest
from belated.service.core import snapshots
from belated.service.core.requests import RunOnThread
from belated.service.store import Store, open_store
from tests.service.core.thread_client import thread_client

ARMS = ["red", "green"]
LAST_LOSS = "kind = 'told' and seq = (select max(seq) from journal where kind = 'told')"
ALTERED = {
    "the last loss": f"update journal set loss = 0.75 where {LAST_LOSS}",
    "the time of a loss": f"update journal set at = at + 1 where {LAST_LOSS}",
    "a deadline": "update journal set expires_at = 7 where kind = 'decided' and round = 9",
    "a key": "update journal set key = 'other' where kind = 'decided' and round = 9",
    "a note": "update journal set payload = '{}' where kind = 'paused'",
}


def run(store: Store, statement: str) -> None:
    """Run a statement in the database of a store."""
    store._transactions.write(lambda connection: connection.execute(text(statement)))


def played(store: Store, workers: int = 1) -> None:
    """A journal with bandits, experts and a pause, whose snapshots are gone."""
    chance = random.Random(5)
    with ExitStack() as stack:
        clients = [stack.enter_context(thread_client(store, seed)) for seed in range(workers)]
        thread = clients[0]
        thread.create("ads", arms=ARMS)
        thread.create("weighed", arms=ARMS, learner="full-information", options={"horizon": 90})
        for _ in range(20):
            ticket = chance.choice(clients).ask("ads").ticket
            chance.choice(clients).tell(ticket, chance.random())
            weighed = chance.choice(clients).ask("weighed").ticket
            for arm in ARMS:
                chance.choice(clients).tell(weighed, chance.random(), arm=arm)
        store.record("ads", "paused", {"why": "night"}, 1.0)
    for name in ("ads", "weighed"):
        store.snapshots.prune(name, 0)


def found(store: Store) -> dict[str, ProblemVerification]:
    """What is found, by problem."""
    return {each.problem: each for each in verified_at_rest(store)}


@pytest.mark.parametrize("what", ALTERED)
def test_an_altered_row_is_noticed(address: str, what: str) -> None:
    """Whatever it says, also where no other row and no snapshot contradicts it."""
    with open_store(address) as store:
        played(store)
        run(store, "update journal set problem = problem")  # which changes nothing
        assert all(each.is_clean for each in found(store).values())
        run(store, ALTERED[what])
        complaints = [text for each in found(store).values() for text in each.complaints]
        assert any("is not as it was written" in each for each in complaints), complaints


def test_rows_without_a_checksum_are_not_judged_by_it(address: str) -> None:
    """As all are that were written before there were checksums."""
    with open_store(address) as store:
        played(store)
        sealed = {name: each.sealed for name, each in found(store).items()}
        assert sealed == {"ads": 42, "weighed": 61}
        run(store, "update journal set checksum = null")
        results = found(store)
        assert all(each.is_clean and each.sealed == 0 for each in results.values())


def test_probabilities_of_several_workers_are_judged(database: str) -> None:
    """Each against the state that its decision names, exactly; a wrong one is noticed."""
    with open_store(database) as store:
        played(store, workers=2)
        results = found(store)
        assert {name: each.judged for name, each in results.items()} == {"ads": 20, "weighed": 20}
        assert [each.off for each in results.values()] == [0.0, 0.0]
        assert all(each.is_clean for each in results.values())
        run(store, "update journal set probability = probability * 0.999 where round = 9")
        run(store, "update journal set checksum = null")
        assert "off what the fold predicts" in str(found(store)["ads"].complaints)


def test_decisions_of_other_code_are_not_judged(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may have other digits, and are counted as such."""
    monkeypatch.setattr(snapshots, "short_code_version", lambda: "other")
    with open_store(database) as store:
        played(store)
        results: dict[str, Any] = found(store)
        monkeypatch.undo()
        assert {each.judged for each in results.values()} == {0}
        assert all(each.is_clean for each in results.values())


def test_a_decision_from_a_state_long_ago_is_judged(database: str) -> None:
    """A worker whose replica is at the beginning decides when the journal is long."""
    with open_store(database) as store, thread_client(store) as thread:
        thread.create("ads", arms=ARMS)
        tickets = [thread.ask("ads").ticket for _ in range(5)]
        thread.do(RunOnThread(lambda store, replicas: replicas.catch_up()))
        for ticket in tickets:
            thread.tell(ticket, 0.5)
        assert thread.ask("ads").round == 6
        thread.do(RunOnThread(lambda store, replicas: replicas.catch_up()))
        assert found(store)["ads"].judged == 6
        assert found(store)["ads"].off == 0.0
