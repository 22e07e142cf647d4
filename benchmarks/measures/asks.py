"""Measures 15 and 16: asks of the whole service, by clients that wait for each answer.

Measure 15 is about the commits that clients share. On a fast disk there is little to share, so
every commit of both contestants takes 2 ms longer, as on a slower disk. Measure 16 is about
everything else: its store writes nothing.
"""

import asyncio
import importlib.util
import itertools
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from benchmarks.measure import Effort, Result, at_least, at_most
from benchmarks.timing import Contestant, Race, Spread, race

if TYPE_CHECKING:
    from starlette.applications import Starlette

CLIENTS = 24
FLUSH = 0.002  # seconds added to every commit
ASK, COMMIT, EMPTY, BARE = "ask", "commit", "FastAPI", "Starlette"
CALLED, CONNECTED = "called directly", "over loopback"


def is_installed() -> bool:
    """Whether the libraries of the service are installed."""
    return all(importlib.util.find_spec(name) for name in ("fastapi", "sqlalchemy", "uvicorn"))


def shared_commits(effort: Effort) -> Iterator[Result]:
    """Measure 15: the rate of asks of 24 clients, divided by the rate of single commits."""
    if not is_installed():
        return
    from belated.service.store import Decision, open_store
    from benchmarks.asks.apps import furnish, on_slow_disk, slowed
    from benchmarks.asks.connections import served
    from benchmarks.asks.empty import PROBLEM

    numbers = itertools.count()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        runner = stack.enter_context(asyncio.Runner())
        database = f"{folder}/service.db"
        with open_store(database) as store:
            furnish(store)
        single = stack.enter_context(slowed(open_store(f"{folder}/single.db"), FLUSH))
        furnish(single)
        asked = stack.enter_context(
            served(on_slow_disk, database, FLUSH, clients=CLIENTS, runner=runner)
        )

        def commit(count: int) -> None:
            for number in itertools.islice(numbers, count):
                plain = Decision(f"{number:026x}", PROBLEM, number, "arm 0", 0.1, None, "", 1.0)
                single.append([plain], [])

        contestants = [
            Contestant(ASK, asked, effort.choose(20, 2) * CLIENTS),
            Contestant(COMMIT, commit, effort.choose(40, 4)),
        ]
        result = race(contestants, effort.choose(15, 2), clock=time.perf_counter_ns)
    yield Result(
        f"{CLIENTS} clients, {1000 * FLUSH:.0f} ms a flush",
        inverse(result.ratio(ASK, to=COMMIT)),
        goal=at_least(4.0),
        ours=result.time(ASK),
        rival=result.time(COMMIT),
    )


def inverse(ratio: Spread) -> Spread:
    """Return the ratio of rates for a ratio of times."""
    return Spread(1.0 / ratio.median, 1.0 / ratio.high, 1.0 / ratio.low)


def without_a_store(effort: Effort) -> Iterator[Result]:
    """Measure 16: the time of an ask, divided by that of a route that does nothing."""
    if not is_installed():
        return
    from benchmarks.asks.apps import stubbed
    from benchmarks.asks.calls import called
    from benchmarks.asks.connections import served
    from benchmarks.asks.empty import empty_fastapi, empty_starlette

    made: dict[str, Callable[[], Starlette]] = {
        ASK: stubbed,
        EMPTY: empty_fastapi,
        BARE: empty_starlette,
    }
    count, turns = effort.choose(40, 2) * CLIENTS, effort.choose(21, 2)
    with asyncio.Runner() as runner, ExitStack() as stack:
        contestants = [
            Contestant(name, stack.enter_context(called(making(), CLIENTS, runner)), count)
            for name, making in made.items()
        ]
        yield from against_empty(CALLED, race(contestants, turns))
    with asyncio.Runner() as runner, ExitStack() as stack:
        contestants = [
            Contestant(
                name, stack.enter_context(served(making, clients=CLIENTS, runner=runner)), count
            )
            for name, making in made.items()
        ]
        yield from against_empty(CONNECTED, race(contestants, turns, clock=time.perf_counter_ns))


def against_empty(how: str, result: Race) -> Iterator[Result]:
    """Yield the results against FastAPI, with a goal, and against Starlette, for information."""
    for rival, goal in ((EMPTY, at_most(2.0)), (BARE, None)):
        yield Result(
            f"{rival}, {how}",
            result.ratio(ASK, to=rival),
            goal=goal,
            ours=result.time(ASK),
            rival=result.time(rival),
        )
