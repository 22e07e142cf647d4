"""Measure 17: an ask of a service that has handed out few tickets, and one that has many open.

Both are asked at their desks, 24 at a time and each under a key of its own, as our client makes it.
Nothing waits for the disk, which would hide what else grows.
"""

import queue
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from benchmarks.measure import Effort, Result, at_most
from benchmarks.measures.asks import CLIENTS, is_installed
from benchmarks.timing import Contestant, race

if TYPE_CHECKING:
    from belated.service.core.commit_thread import Desk, Replies

FEW, MANY, QUICK = 1_000, 1_000_000, 5_000
AT_ONCE = 480  # asks in a group while tickets are made


class Asker:
    """Asks a commit thread, a group of requests at a time."""

    def __init__(self, desk: "Desk", answers: "queue.SimpleQueue[Replies]") -> None:
        self._desk, self._answers = desk, answers

    def __call__(self, count: int) -> None:
        self.ask(count, CLIENTS)

    def ask(self, count: int, at_once: int) -> None:
        """Ask `count` times, and wait for the answers of each group."""
        from belated.client.calls import new_key
        from belated.service.core.commit_thread import Job
        from belated.service.core.requests import Ask
        from benchmarks.asks.empty import PROBLEM

        for first in range(0, count, at_once):
            keys = [new_key() for _ in range(min(at_once, count - first))]
            self._desk.submit([Job(Ask(PROBLEM, 1, key, "ask"), key) for key in keys])
            waiting = len(keys)
            while waiting:
                replies = self._answers.get()
                for _, answer in replies:
                    if isinstance(answer, Exception):
                        raise answer
                waiting -= len(replies)


@contextmanager
def at_desk(database: str) -> Iterator[Asker]:
    """A commit thread over a new SQLite file that does not wait for the disk."""
    from belated.service.core.commit_thread import Desk
    from belated.service.store import open_store
    from benchmarks.asks.apps import furnish

    with open_store(database, "off") as store:
        furnish(store)
        answers: queue.SimpleQueue[Replies] = queue.SimpleQueue()
        desk = Desk(store, answers.put, seed=1)
        try:
            yield Asker(desk, answers)
        finally:
            desk.stop()


def grown(effort: Effort) -> Iterator[Result]:
    """Measure 17: how many times as long an ask takes with many open tickets."""
    if not is_installed():
        return
    sizes = {f"{number:,}": number for number in (FEW, effort.choose(MANY, QUICK))}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        askers = {
            name: stack.enter_context(at_desk(f"{folder}/{number}.db"))
            for name, number in sizes.items()
        }
        for name, number in sizes.items():
            askers[name].ask(number, AT_ONCE)
        count = effort.choose(20, 2) * CLIENTS
        contestants = [Contestant(name, asker, count) for name, asker in askers.items()]
        result = race(contestants, effort.choose(31, 3))
    few, many = sizes
    yield Result(
        f"{many} open tickets",
        result.ratio(many, to=few),
        goal=at_most(1.3),
        ours=result.time(many),
        rival=result.time(few),
    )
