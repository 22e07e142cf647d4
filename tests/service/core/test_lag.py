"""A transaction that stays open on the server holds learning back, and nothing else."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from belated.service.core import batch, commit_thread, replicas
from belated.service.core.replicas import Replicas
from belated.service.core.requests import Ask, RunOnThread
from belated.service.store import START, Lag, Store, open_store
from tests.service.core.test_cost import counted
from tests.service.core.thread_client import ThreadClient, fingerprints_in, thread_client
from tests.service.material import decision

ARMS = ["red", "green"]
BRIEF: dict[str, Any] = {"arms": ARMS, "expire_seconds": 100, "default_loss": 1.0}
NUMBERED = "select pg_current_xact_id()"


@contextmanager
def open_transaction(database: str) -> Iterator[str]:
    """Somebody's transaction, which has a number; what it is called."""
    with psycopg.connect(database) as other:
        other.execute(NUMBERED)
        yield f"process {other.info.backend_pid} in database"
        other.rollback()


@contextmanager
def prepared_transaction(database: str) -> Iterator[str]:
    """A transaction that was prepared and forgotten, which survives its connection."""
    with psycopg.connect(database, autocommit=True) as other:
        if other.execute("show max_prepared_transactions").fetchone() == ("0",):
            pytest.skip("this server cannot prepare transactions")
        other.execute("begin")
        other.execute(NUMBERED)
        other.execute("prepare transaction 'forgotten'")
    try:
        yield "the prepared transaction 'forgotten' in database"
    finally:
        with psycopg.connect(database, autocommit=True) as other:
            other.execute("rollback prepared 'forgotten'")


@pytest.mark.parametrize("holding", [open_transaction, prepared_transaction])
def test_a_frozen_horizon_is_seen_named_and_survived(
    database: str, holding: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its lag and its cause are known and logged; asks, tells and expiry go on; all is learned."""
    monkeypatch.setattr(commit_thread, "LOOK", 0.0)
    now = [1000.0]
    with open_store(database) as store, thread_client(store, clock=lambda: now[0]) as thread:
        thread.create("brief", **BRIEF)
        thread.create("weighed", learner="full-information", options={"horizon": 50}, **BRIEF)
        thread.catch_up()
        with holding(database) as cause:
            tickets = [thread.ask("brief").ticket for _ in range(5)]
            half_told = thread.ask("weighed").ticket
            thread.tell(tickets[0], 0.5)
            thread.tell(half_told, 0.5, arm="red")
            now[0] += 50.0
            lag = lag_of(thread, now[0])
            assert lag.rows == 8
            assert lag.seconds == 50.0
            assert lag.blocked_by is not None
            assert lag.blocked_by.startswith(cause)
            assert thread.do(RunOnThread(lambda store, all: all.by_name["brief"].round)) == 0
            now[0] += 51.0
            wait_until(lambda: store.counts("brief").of("expired") == 4)
            wait_until(lambda: store.counts("weighed").of("expired") == 1)
            assert cause in caplog.text
            assert thread.ask("brief").problem == "brief"
        wait_until(lambda: lag_of(thread, now[0]) == Lag())
        assert thread.do(RunOnThread(lambda store, all: all.by_name["brief"].round)) == 6


def lag_of(thread: ThreadClient, now: float) -> Lag:
    """The lag of its replicas."""
    lag: Lag = thread.do(RunOnThread(lambda store, replicas: replicas.lag(now)))
    return lag


def wait_until(is_so: Any) -> None:
    """Wait, but not for ever."""
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_broken_problem_does_not_hold_up_the_expiry_of_others(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tickets are overdue for ever, and more of them than expire at once."""
    monkeypatch.setattr(commit_thread, "LOOK", 0.0)
    monkeypatch.setattr(batch, "MOST_AT_ONCE", 3)
    now = [1000.0]
    with open_store(database) as store, thread_client(store, clock=lambda: now[0]) as thread:
        for name in ("broken", "fine"):
            thread.create(name, **BRIEF)
        thread.catch_up()
        with open_transaction(database):
            for name, number in (("broken", 5), ("fine", 4)):
                thread.do(Ask(name, number))
                now[0] += 1.0
            thread.do(RunOnThread(lambda store, replicas: replicas.give_up("broken", "a test")))
            now[0] += 200.0
            wait_until(lambda: store.counts("fine").of("expired") == 4)


def test_a_backlog_is_folded_in_slices(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the transaction ends, requests are answered between slices, not after all of it."""
    monkeypatch.setattr(replicas, "SLICE", 30)
    with open_store(database) as store:
        with thread_client(store) as thread:
            thread.create("ads", arms=ARMS)
        with open_transaction(database):
            behind = Replicas.loaded(store)
            with thread_client(store) as thread:
                thread.do(Ask("ads", 100))
            assert not behind.keep_up()
        rounds = []
        while behind.keep_up():
            rounds.append(behind.by_name["ads"].round)
        assert rounds == [30, 60, 90]
        assert fingerprints_in(behind) == fingerprints_in(Replicas.loaded(store))
        assert behind.by_name["ads"].round == 100


def test_looking_for_notes_does_not_read_what_is_not_settled(store: Store) -> None:
    """However many decisions there are after a position, only the notes among them are read."""
    costs = []
    for start, end in ((0, 100), (100, 3000)):
        store.append([decision(f"t{number:05}") for number in range(start, end)], [])
        with counted(store) as work:
            assert len(store.notes_after(START)) == 1
        costs += work
    assert costs[1] <= 2 * costs[0] + 60


def test_one_owner_never_lags(tmp_path: Any) -> None:
    """Nobody else writes."""
    with open_store(tmp_path / "belated.db") as store, thread_client(store) as thread:
        thread.create("ads", arms=ARMS)
        thread.ask("ads")
        assert lag_of(thread, 1e9) == Lag(0, 0.0, None)
