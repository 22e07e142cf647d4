"""Rows that somebody writes by SQL into the file of a running service: seen, and without harm."""

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from belated.service.admin.retain import retain
from belated.service.admin.verify import verified_at_rest
from belated.service.core.errors import StateConflictError, UnavailableError
from belated.service.core.replicas import Replicas
from belated.service.core.requests import Ask, Tell, TicketReport
from belated.service.store import START, Decision, Event, Outcome, open_store
from tests.service.core.test_isolation import ARMS, STRANGER, caught_up, play, sent_together
from tests.service.core.thread_client import thread_client

OUTCOME = """
insert into journal (seq, kind, problem, at, ticket, arm, loss)
select (select max(seq) + 1 from journal), 'told', problem, 1.0, ticket, arm, 0.25
from journal where kind = 'decided' and ticket = '{ticket}'"""

DELETION = """
insert into journal (seq, kind, problem, at, payload)
select max(seq) + 1, 'deleted', 'bad', 1.0, '{}' from journal"""


def written_by_somebody(database: str, statement: str) -> None:
    """Run a statement on a connection of somebody else."""
    with closing(sqlite3.connect(database)) as other, other:
        other.execute(statement)


def test_a_foreign_row_is_seen_at_the_next_write(tmp_path: Path) -> None:
    """Its problem is given up at once, and no snapshot hides the row from the next start."""
    database = str(tmp_path / "belated.db")
    with open_store(database) as store:
        with thread_client(store) as thread:
            for name in ("bad", "fine"):
                thread.create(name, arms=ARMS)
                play(thread, name, 3)
            written_by_somebody(database, STRANGER)
            play(thread, "fine", 3)
            with pytest.raises(UnavailableError, match="cannot be folded"):
                thread.ask("bad")
            assert list(caught_up(thread)) == ["bad"]
        assert list(Replicas.loaded(store).broken) == ["bad"]


def test_a_foreign_row_after_the_last_write_is_not_hidden(tmp_path: Path) -> None:
    """The last snapshots are of what the service knows, so the next start folds the row."""
    database = str(tmp_path / "belated.db")
    with open_store(database) as store:
        with thread_client(store) as thread:
            thread.create("bad", arms=ARMS)
            play(thread, "bad", 3)
            written_by_somebody(database, STRANGER)
        assert store.snapshots.latest("bad") is not None
        assert list(Replicas.loaded(store).broken) == ["bad"]


def test_a_foreign_outcome_is_learned_and_doubles_nothing(tmp_path: Path) -> None:
    """A ticket told behind the service's back: who tells it is refused, others are served once."""
    database = str(tmp_path / "belated.db")
    with open_store(database) as store:
        with thread_client(store) as thread:
            for name in ("odd", "fine"):
                thread.create(name, arms=ARMS)
            ticket = thread.ask("odd").ticket
            written_by_somebody(database, OUTCOME.format(ticket=ticket))
            tell = Tell([TicketReport(ticket, 0.75)])
            answers = sent_together(thread, [Ask("fine"), tell, Ask("fine", 2), Ask("odd")])
            assert [len(answers[place]) for place in (0, 2, 3)] == [1, 2, 1]
            assert isinstance(answers[1][0], StateConflictError)
            assert thread.ask("fine").round == 4
            assert thread.ask("odd").round == 3
        found = {each.problem: each for each in verified_at_rest(store)}
        assert found["fine"].is_clean
        assert (found["fine"].rounds, found["fine"].pending) == (4, 4)
        assert (found["odd"].rounds, found["odd"].pending) == (3, 2)


def test_a_ticket_that_cannot_be_read_is_no_unknown_one(address: str) -> None:
    """Reports on it get 503 with the reason; whoever may not know of it learns nothing."""
    with open_store(address) as store:
        with thread_client(store) as thread:
            thread.create("bad", arms=ARMS)
            ticket = thread.ask("bad").ticket
            thread.tell(ticket, 0.5)
        damage = "update journal set weights = '{' where kind = 'decided'"
        store._transactions.write(lambda connection: connection.exec_driver_sql(damage))
        with thread_client(store) as thread:
            with pytest.raises(UnavailableError, match="of the journal cannot be read"):
                thread.tell(ticket, 0.5)
            hidden = Tell([TicketReport(ticket, 0.5)], lambda problem: False)
            assert "there is no ticket" in str(thread.do(hidden)[0])


@pytest.mark.parametrize(
    "change",
    [
        "turn = 9e18",
        "turn = 'x'",
        "round = x'00'",
        "ticket = x'80'",
        "problem = cast(x'ff' as text)",
    ],
)
def test_what_no_column_should_hold(tmp_path: Path, change: str) -> None:
    """SQLite holds any value in any column; one row of it must not stop a start or hide others."""
    database = str(tmp_path / "belated.db")
    with open_store(database) as store:
        with thread_client(store) as thread:
            for name in ("bad", "fine"):
                thread.create(name, arms=ARMS)
                play(thread, name, 3)
        for name in ("bad", "fine"):
            store.snapshots.prune(name, 0)
    row = "problem = 'bad' and kind = 'decided' and round = 2"
    written_by_somebody(database, f"update journal set {change} where {row}")
    with open_store(database) as store:
        with thread_client(store) as thread:
            assert thread.ask("fine").round == 5
        found = {each.problem: each for each in verified_at_rest(store)}
        assert found["fine"].is_clean
        assert (found["fine"].rounds, found["fine"].pending) == (5, 2)
        json.dumps([each.shown() for each in found.values()]).encode()
        assert "turn" in change or not all(each.is_clean for each in found.values())


def test_a_strange_row_does_not_stop_retention(tmp_path: Path) -> None:
    """The journal of others is shortened, and its state goes on as it was."""
    database = str(tmp_path / "belated.db")
    with open_store(database) as store, thread_client(store) as thread:
        for name in ("fine", "bad"):  # whose rows are the last
            thread.create(name, arms=ARMS)
            for _ in range(3):
                thread.tell(thread.ask(name).ticket, 0.5)
    written_by_somebody(database, "update journal set turn = 'x' where problem = 'bad'")
    with open_store(database) as store:
        retain(store, 0.0, time.time() + 10.0, None)
        assert len(store.tail(store.checkpoints.reached().position, problem="fine")[0]) == 1
        assert not [each for each in store.kept_before(START, store.end()) if is_of_a_ticket(each)]
        found = {each.problem: each for each in verified_at_rest(store)}
        assert found["fine"].is_clean
        with thread_client(store) as thread:
            assert thread.ask("fine").round == 4


def is_of_a_ticket(event: Event) -> bool:
    """Whether a row is a decision or an outcome."""
    return isinstance(event.body, Decision | Outcome)


def test_a_deletion_that_nobody_made_touches_no_other(tmp_path: Path) -> None:
    """A row that says so without its generation: the start, verify and others go on."""
    database = str(tmp_path / "belated.db")
    with open_store(database) as store, thread_client(store) as thread:
        for name in ("bad", "fine"):
            thread.create(name, arms=ARMS)
            play(thread, name, 3)
    written_by_somebody(database, DELETION)
    with open_store(database) as store:
        for name in ("bad", "fine"):
            store.snapshots.prune(name, 0)
        with thread_client(store) as thread:
            assert thread.ask("fine").round == 5
        assert {each.problem: each for each in verified_at_rest(store)}["fine"].is_clean
