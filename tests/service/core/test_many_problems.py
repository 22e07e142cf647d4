"""Many idle problems beside a busy one cost it nothing."""

import random
from typing import Any

import pytest

from belated.service.core import snapshot_rounds
from belated.service.core.replicas import Replicas
from belated.service.core.requests import RunOnThread
from belated.service.store import Store, open_store
from tests.service.core.thread_client import catch_up, fingerprints_in, thread_client

ARMS = ["red", "green"]
EXPIRING: dict[str, Any] = {"arms": ARMS, "expire_seconds": 10, "default_loss": 1.0}
IDLE = 30


class NotToBeWalked(dict[str, Any]):
    """A dictionary in which one can look something up, and not go through it all."""

    def __iter__(self) -> Any:
        raise AssertionError("all problems are looked at")

    keys = values = items = __iter__


def test_no_request_looks_at_all_problems(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask, tell, expiry, snapshots, reading what others wrote: only what changes is touched."""
    monkeypatch.setattr(snapshot_rounds, "FEWEST_EVENTS", 20)
    monkeypatch.setattr(snapshot_rounds, "PER_OPEN", 0)
    now = [1000.0]

    def guard(store: Store, replicas: Replicas) -> None:
        replicas.by_name = NotToBeWalked(replicas.by_name)

    def unguard(store: Store, replicas: Replicas) -> None:
        replicas.by_name = dict(dict.items(replicas.by_name))

    with thread_client(store, clock=lambda: now[0]) as thread:
        for number in range(3):
            thread.create(f"idle{number}", **EXPIRING)
        thread.create("busy", **EXPIRING)
        thread.catch_up()
        thread.do(RunOnThread(guard))
        for _ in range(30):
            thread.tell(thread.ask("busy").ticket, 0.5)
        thread.ask("busy")
        thread.catch_up()
        now[0] += 20.0
        assert thread.ask("busy").problem == "busy"
        thread.do(RunOnThread(unguard))
        assert store.counts("busy").of("expired") == 1


def test_what_did_not_change_is_not_saved_at_the_end(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that is stopped writes the snapshots of its busy problem, and is back from all."""
    saved: list[str] = []
    with open_store(address) as store:
        with thread_client(store) as thread:
            for number in range(IDLE):
                thread.create(f"idle{number}", arms=ARMS)
            thread.create("busy", arms=ARMS)
        save_all = store.snapshots.save_all
        monkeypatch.setattr(
            store.snapshots,
            "save_all",
            lambda group: (saved.extend(each.problem for each in group.snapshots), save_all(group)),
        )
        with thread_client(store) as thread:
            thread.tell(thread.ask("busy").ticket, 0.5)
            thread.catch_up()
            live = thread.states()
        assert saved == ["busy"]
        loaded = Replicas.loaded(store)
        assert fingerprints_in(loaded) == live
        assert loaded.unsaved == 0  # not one event is folded again


def test_two_workers_save_the_same_problems(
    database: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """At the same positions, in turns and at once: no complaint, and each snapshot is right."""
    monkeypatch.setattr(snapshot_rounds, "FEWEST_EVENTS", 10)
    monkeypatch.setattr(snapshot_rounds, "PER_OPEN", 0)
    names = ["first", "second", "third"]
    with open_store(database) as store, open_store(database) as other:
        with thread_client(store) as one, thread_client(other) as two:
            for name in names:
                one.create(name, arms=ARMS)
            chance = random.Random(1)
            for _ in range(40):
                ticket = chance.choice([one, two]).ask(chance.choice(names)).ticket
                chance.choice([one, two]).tell(ticket, 0.5)
            for each in (one, two):
                each.catch_up()
            assert one.states() == two.states()
        whole = Replicas(store)
        catch_up(whole)
        assert fingerprints_in(Replicas.loaded(store)) == fingerprints_in(whole)
    assert "no snapshot was taken" not in caplog.text
