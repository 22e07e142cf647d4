"""`verify` notices what was changed in the journal behind the service's back."""

import random
import tracemalloc
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from belated.service.admin import past_weights
from belated.service.admin.past_weights import PastWeights
from belated.service.admin.verify import ProblemVerification, refolded, verified_at_rest
from belated.service.core import snapshots
from belated.service.core.problems import checked_spec, served
from belated.service.core.replica import Replica
from belated.service.store import ProblemRecord, Store, open_store
from belated.service.tickets.ticket_ids import new_ticket_id
from tests.service.core.thread_client import thread_client
from tests.service.material import decision, told

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
        thread.catch_up()
        for ticket in tickets:
            thread.tell(ticket, 0.5)
        assert thread.ask("ads").round == 6
        thread.catch_up()
        assert found(store)["ads"].judged == 6
        assert found(store)["ads"].off == 0.0


COPY = """
insert into journal (turn, seq, kind, problem, at, ticket, arm, round, probability, weights,
  state_version, loss)
select turn, (select max(seq) from journal) + 1, kind, problem, at, ticket, arm, round, probability,
  weights, state_version, loss from journal where {row}"""
TWICE = {
    "a decision": ("journal_decision", "kind = 'decided' and problem = 'ads' and round = 3", "ads"),
    "an outcome": (
        "journal_outcome",
        "kind = 'told' and seq = (select min(seq) from journal where kind = 'told')",
        "ads",
    ),
}


@pytest.mark.parametrize("what", TWICE)
def test_what_is_there_twice_is_noticed(address: str, what: str) -> None:
    """Also where somebody has dropped the index that would refuse it."""
    index, row, name = TWICE[what]
    with open_store(address) as store:
        played(store)
        run(store, f"drop index {index}")
        run(store, COPY.format(row=row))
        assert "twice" in str(found(store)[name].complaints)


def test_an_expert_who_is_answered_twice_is_noticed(address: str) -> None:
    """While the ticket still waits for another expert."""
    with open_store(address) as store:
        with thread_client(store) as thread:
            thread.create("weighed", arms=ARMS, learner="practical-experts")
            thread.tell(thread.ask("weighed").ticket, 0.5, arm="red")
        run(store, "drop index journal_outcome")
        run(store, COPY.format(row="kind = 'told'"))
        store.snapshots.prune("weighed", 0)
        assert "was answered twice" in str(found(store)["weighed"].complaints)


def test_memory_does_not_grow_with_the_journal(tmp_path: Path) -> None:
    """Of a ticket that is closed nothing is kept, however long the journal is."""
    peaks = []
    with open_store(tmp_path / "belated.db", "off") as store:
        with thread_client(store) as thread:
            thread.create("ads", arms=ARMS)
        for _ in range(3):
            made = [decision(new_ticket_id(1.0)) for _ in range(500)]
            store.append(made, [told(each.ticket) for each in made])
            tracemalloc.start()
            refolded(store, store.end())
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[2] - peaks[1] < 100 * 500  # bytes for each ticket


def test_weights_of_the_past_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all problems together; the last of each is kept, since it may be decided from it."""
    monkeypatch.setattr(past_weights, "MOST_NUMBERS", 50 * (past_weights.BESIDE + 2))
    past = PastWeights()
    replicas = [Replica(served(problem_record(name))) for name in ("idle", "busy")]
    past.add("1", replicas[0])
    for number in range(1000):
        past.add(f"{number:09}", replicas[1])
    assert [len(past._states[each]) for each in ("idle", "busy")] == [1, 50]


def problem_record(name: str) -> ProblemRecord:
    """A problem with two arms."""
    return ProblemRecord(name, checked_spec({"learner": "exp3", "arms": ARMS}), 1.0)
