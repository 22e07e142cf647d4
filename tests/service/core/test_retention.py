"""Retention: old tickets are folded into checkpoints, and nothing else changes."""

import random
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import text

from belated.service.admin.retain import retain
from belated.service.admin.verify import verified_at_rest
from belated.service.core.replicas import Replicas
from belated.service.store import Store, open_store
from tests.service.core.thread_client import ThreadClient, fingerprints_in, thread_client
from tests.service.material import whole_journal

ARMS = ["red", "green", "blue"]
NOW = 1_000_000.0


class Clock:
    """A time of day that the test sets."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def create(thread: ThreadClient) -> None:
    """Problems of several kinds, some of whose tickets expire."""
    thread.create("ads", arms=ARMS, learner="practical-bandit")
    thread.create("short", arms=ARMS, expire_after=3, default_loss=1.0)
    thread.create("weighed", arms=ARMS, learner="practical-experts")


def play(clients: list[ThreadClient], clock: Clock, rounds: int, seed: int) -> list[str]:
    """Ask, and tell most of it later in another order; returns the tickets left open.

    A round takes a second.
    """
    chance, waiting = random.Random(seed), list[tuple[str, str | None]]()
    for _ in range(rounds):
        clock.now += 1.0
        for name in ("ads", "short", "weighed"):
            made = chance.choice(clients).ask(name)
            waiting.append((made.ticket, made.arm))
        while len(waiting) > 12:
            ticket, arm = waiting.pop(chance.randrange(len(waiting)))
            for each in [arm] if arm else ARMS:
                try:
                    chance.choice(clients).tell(ticket, chance.random(), arm=each)
                except Exception as error:
                    assert "expired" in str(error)
    return [ticket for ticket, _ in waiting]


def complaints(store: Store) -> list[str]:
    """All that verification finds wrong."""
    return [text for each in verified_at_rest(store) for text in each.complaints]


def rows(store: Store) -> int:
    """How many rows the journal has."""
    found = text("select count(*) from journal")
    return int(store._transactions.read(lambda each: each.execute(found).scalar_one()))


def test_the_state_goes_on_bit_for_bit(address: str) -> None:
    """The fold from a checkpoint is the fold of the whole journal, and so is what follows."""
    with open_store(address) as store:
        clock = Clock()
        with thread_client(store, clock=clock) as thread:
            create(thread)
            play([thread], clock, 30, 1)
            before = thread.states()
        whole = {name: store.counts(name) for name in before}
        number = rows(store)
        done = retain(store, 10.0, clock.now, None)
        assert done.tickets > 20
        assert rows(store) < number
        for name in before:
            store.snapshots.prune(name, 0)
        assert complaints(store) == []
        assert {name: store.counts(name) for name in before} == whole
        with thread_client(store, clock=clock) as thread:
            play([thread], clock, 20, 2)
        assert complaints(store) == []
