"""Workers on one PostgreSQL database: each decides from its own replica, and all replicas agree."""

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from belated.service.admin.verify import verified_at_rest
from belated.service.core.commit_thread import TICK
from belated.service.core.errors import RequestError
from belated.service.core.replicas import Replicas
from belated.service.core.requests import Ask, Cancel, RunOnThread, Tell, TicketReport
from belated.service.store import Store, open_store
from tests.service.core.test_commit_thread import ARMS, LOSSES, refold
from tests.service.core.thread_client import ThreadClient, fingerprints_in, thread_client

ROUNDS = int(os.environ.get("BELATED_WORKER_ROUNDS", "15"))  # of each worker
GAMES: dict[str, dict[str, Any]] = {
    "bandit": {"arms": ARMS, "learner": "practical-bandit"},
    "brief": {"arms": ARMS, "learner": "exp3", "expire_after": 9, "default_loss": 1.0},
    "experts": {"arms": ARMS, "learner": "full-information", "options": {"horizon": 5000}},
}


def work(threads: list[ThreadClient], number: int) -> int:
    """Ask one worker and tell any; returns how many reports counted, as some come too late."""
    chance, counted = random.Random(number), 0
    waiting: list[Any] = []
    for _ in range(ROUNDS):
        waiting += threads[number].do(Ask(chance.choice(list(GAMES)), number=chance.randint(1, 3)))
        chance.shuffle(waiting)
        while waiting and chance.random() < 0.6:
            decision, other = waiting.pop(), chance.choice(threads)
            if chance.random() < 0.1:
                counted += cancelled(other, decision.ticket)
                continue
            arms = [decision.arm] if decision.arm else ARMS
            reports = [TicketReport(decision.ticket, LOSSES[arm], arm=arm) for arm in arms]
            for _ in range(chance.randint(1, 2)):
                verdicts = other.do(Tell(reports))
                counted += sum(
                    not isinstance(each, RequestError) and each.counted for each in verdicts
                )
    return counted


def cancelled(thread: ThreadClient, ticket: str) -> int:
    """How many outcomes it was to cancel a ticket; one that has expired cannot be cancelled."""
    try:
        return int(thread.do(Cancel(ticket)).counted)
    except RequestError:
        return 0


def caught_up(threads: list[ThreadClient], store: Store) -> tuple[list[Any], dict[str, str]]:
    """The states of all workers and the fold of the journal, once nothing more is written to it.

    Plays go on to expire for a while after the last request.
    """

    def state(store: Store, replicas: Replicas) -> Any:
        replicas.catch_up()
        return replicas.position, fingerprints_in(replicas)

    until = time.monotonic() + 120
    while time.monotonic() < until:
        time.sleep(2 * TICK)
        end = store.end()
        found = [thread.do(RunOnThread(state)) for thread in threads]
        whole = refold(store)
        if {end, store.end()} == {position for position, _ in found}:
            return [each for _, each in found], whole
    raise AssertionError("they are never done")


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_replicas_end_bit_identical(database: str, workers: int) -> None:
    """1, 2 and 4 at once: every replica is that of the others, and the fold of the journal."""
    with ExitStack() as stack:
        stores = [stack.enter_context(open_store(database)) for _ in range(workers)]
        threads = [
            stack.enter_context(thread_client(each, seed=n)) for n, each in enumerate(stores)
        ]
        for name, spec in GAMES.items():
            threads[0].create(name, **spec)
        caught_up(threads, stores[0])
        with ThreadPoolExecutor(workers) as pool:
            counted = sum(pool.map(lambda number: work(threads, number), range(workers)))
        states, whole = caught_up(threads, stores[0])
        assert set(whole) == set(GAMES)
        assert states == [whole] * workers
        told = sum(
            stores[0].counts(name).of(kind) for name in GAMES for kind in ("told", "cancelled")
        )
        assert told >= counted > 0
        assert stores[0].counts("brief").of("expired") > 0
    with open_store(database) as store:
        assert [finding.complaints for finding in verified_at_rest(store)] == [[]] * len(GAMES)
