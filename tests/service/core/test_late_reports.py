"""A late report that is answered "is recorded" is in the journal, whatever fails around it."""

from typing import Any

import psycopg
import pytest

from belated.service.core.errors import TicketExpiredError, UnavailableError
from belated.service.store import Outcome, Store, StoreUnavailable, open_store
from tests.service.core.thread_client import ThreadClient, thread_client

BRIEF: dict[str, Any] = {"arms": ["red"], "expire_seconds": 10, "default_loss": 1.0}


def expired_ticket(thread: ThreadClient, now: list[float]) -> str:
    """A ticket that has expired."""
    thread.create("brief", **BRIEF)
    thread.create("other", arms=["red"])
    ticket = thread.ask("brief").ticket
    settled(thread)
    now[0] += 11.0
    thread.ask("other")
    settled(thread)
    return ticket


def settled(thread: ThreadClient) -> None:
    """Have the replica read what is in the journal."""
    thread.catch_up()


def late_in(store: Store) -> list[str]:
    """The tickets of the late reports that are in the journal."""
    return [note.payload["ticket"] for note in store.notes("brief") if note.kind == "late"]


def test_recorded_means_committed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """While commits fail it is not said; when they work again the same report is noted, once."""
    now, append, failing = [1000.0], store.append, [False]

    def maybe(*records: Any) -> Any:
        if failing[0]:
            raise StoreUnavailable("the store cannot be used now: disk full")
        return append(*records)

    monkeypatch.setattr(store, "append", maybe)
    with thread_client(store, clock=lambda: now[0]) as thread:
        ticket = expired_ticket(thread, now)
        failing[0] = True
        for _ in range(2):
            with pytest.raises(UnavailableError, match="send it again"):
                thread.tell(ticket, 0.5)
        failing[0] = False
        assert late_in(store) == []
        for _ in range(3):
            with pytest.raises(TicketExpiredError, match="is recorded"):
                thread.tell(ticket, 0.5)
            assert late_in(store) == [ticket]


def test_a_report_that_another_worker_has_overtaken_is_recorded(database: str) -> None:
    """A worker takes a ticket for open that another has expired: the note is there at once."""
    with open_store(database) as store, thread_client(store) as thread:
        thread.create("brief", **BRIEF)
        ticket = thread.ask("brief").ticket
        settled(thread)
        with psycopg.connect(database) as holding:  # so that no replica sees what comes now
            holding.execute("select pg_current_xact_id()")
            expired = Outcome(ticket, "red", "expired", 1.0, 1.0)
            assert store.append([], [expired]).outcomes[0].counted
            for _ in range(2):
                with pytest.raises(TicketExpiredError, match="is recorded"):
                    thread.tell(ticket, 0.5)
                assert late_in(store) == [ticket]
