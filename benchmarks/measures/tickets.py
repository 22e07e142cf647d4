"""Measure 17: an ask of a service with many open tickets, against one with few.

Both are asked at their commit threads, 24 asks at a time, each with its own idempotency key, as our
client makes it. Nothing waits for the disk, since that would hide other costs that grow.
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
    from belated.service.core.commit_thread import CommitThread, Replies

FEW, MANY, QUICK = 1_000, 1_000_000, 5_000
AT_ONCE = 480  # asks in a group while tickets are made


class Asker:
    """Sends asks to a commit thread, several at a time."""

    def __init__(self, thread: "CommitThread", answers: "queue.SimpleQueue[Replies]") -> None:
        self._thread, self._answers = thread, answers

    def __call__(self, count: int) -> None:
        self.ask(count, CLIENTS)

    def ask(self, count: int, at_once: int) -> None:
        """Ask `count` times, and wait for the answers of each group."""
        from belated.client.calls import new_key
        from belated.service.core.requests import Ask, Job
        from benchmarks.asks.empty import PROBLEM

        for first in range(0, count, at_once):
            keys = [new_key() for _ in range(min(at_once, count - first))]
            self._thread.submit([Job(Ask(PROBLEM, 1, key, "ask"), key) for key in keys])
            waiting = len(keys)
            while waiting:
                replies = self._answers.get()
                for _, answer in replies:
                    if isinstance(answer, Exception):
                        raise answer
                waiting -= len(replies)


def answer_queue() -> "queue.SimpleQueue[Replies]":
    """Make a queue for the answers of a commit thread."""
    return queue.SimpleQueue()


@contextmanager
def asking(database: str) -> Iterator[Asker]:
    """Run a commit thread with a new database file that does not wait for the disk."""
    from belated.service.core.commit_thread import CommitThread
    from belated.service.store import open_store
    from benchmarks.asks.apps import furnish

    with open_store(database, "off") as store:
        furnish(store)
        answers = answer_queue()
        thread = CommitThread(store, answers.put, seed=1)
        try:
            yield Asker(thread, answers)
        finally:
            thread.stop()


def grown(effort: Effort) -> Iterator[Result]:
    """Measure 17: the time of an ask with many open tickets, divided by that with few."""
    if not is_installed():
        return
    sizes = {f"{number:,}": number for number in (FEW, effort.choose(MANY, QUICK))}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        askers = {
            name: stack.enter_context(asking(f"{folder}/{number}.db"))
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
