"""Measure 24: the memory that open tickets take in a service."""

import multiprocessing
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import MEGABYTES, Effort, Result, at_most
from benchmarks.measures.asks import is_installed
from benchmarks.timing import Spread

MANY, QUICK = 1_000_000, 5_000
FIRST = 1_000  # tickets, after which the process has all that it needs but room
AT_ONCE = 480
DAY = 86_400.0
PAGE = 4096  # bytes


def memory(effort: Effort) -> Iterator[Result]:
    """Measure 24: the growth of a process of its own, in millions of bytes."""
    if not is_installed() or not Path("/proc/self/statm").exists():
        return
    number = effort.choose(MANY, QUICK)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        grown = [pool.apply(growth, (number,)) for _ in range(effort.choose(1, 1))]
    what = f"{number:,} open tickets"
    yield Result(what, Spread.of(grown), MEGABYTES, None, at_most(200.0))


def growth(number: int) -> float:
    """How much this process grows while so many tickets are opened."""
    from belated.service.admin.offline import change_terms
    from belated.service.core.commit_thread import CommitThread
    from belated.service.store import open_store
    from benchmarks.asks.apps import furnish
    from benchmarks.asks.empty import PROBLEM
    from benchmarks.measures.tickets import Asker, answer_queue

    with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/new.db", "off") as store:
        furnish(store)
        change_terms(store, PROBLEM, {"expire_seconds": DAY, "default_loss": 1.0}, 0.0)
        answers = answer_queue()
        thread = CommitThread(store, answers.put, seed=1)
        asker = Asker(thread, answers)
        asker.ask(FIRST, AT_ONCE)
        before = resident()
        asker.ask(number - FIRST, AT_ONCE)
        grown = resident() - before
        thread.stop()
    return grown / 1e6


def resident() -> int:
    """The bytes of this process that are in memory."""
    return PAGE * int(Path("/proc/self/statm").read_text().split()[1])
