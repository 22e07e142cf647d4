"""Measures 26 to 28: the service in its own processes, and clients on plain sockets beside it.

The clients share the processors with the service, so a rate is one of both together; they are as
lean as Python allows (`load.clients`). PostgreSQL is measured if BELATED_PG_URL names a server.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing

from benchmarks.load.clients import ASK, Crowd, Load
from benchmarks.load.databases import POSTGRES, SQLITE, empty_database, kinds
from benchmarks.load.service import Service
from benchmarks.measure import PER_SECOND, SECONDS, Effort, Result, at_least, at_most, exactly
from benchmarks.measures.asks import CLIENTS, is_installed
from benchmarks.timing import Spread

BEFORE = "BELATED_BEFORE"  # the variable with the Python of an earlier version, to compare with
BUSY = "busy"
CROWD, IDLE = 600, 2_000
GOALS = {SQLITE: 2.0, POSTGRES: 3.0}
WORKERS = {SQLITE: 1, POSTGRES: 2}
ANY_RATE = ("--rate", "0")


def options_for(kind: str) -> list[str]:
    """The options of a service on this kind of database."""
    workers = WORKERS[kind]
    return [*ANY_RATE, *(["--workers", str(workers)] if workers > 1 else [])]


def started(stack: ExitStack, kind: str, python: str = sys.executable) -> Service:
    """A service with one problem, whose learner is compiled."""
    database = stack.enter_context(empty_database(kind))
    service = stack.enter_context(Service(database, *options_for(kind), python=python))
    service.create(BUSY)
    put_under_load(service, 1.0)
    service.wait_until_compiled()
    return service


def put_under_load(service: Service, seconds: float, clients: int = CLIENTS) -> Load:
    """Let clients ask and tell for a while."""
    with closing(Crowd(service.address, [BUSY], clients)) as crowd:
        return crowd.run(seconds)


def asks_and_tells(effort: Effort) -> Iterator[Result]:
    """Measure 26: the rate of 24 clients, and its ratio to that of an earlier version."""
    if not is_installed():
        return
    before, seconds = os.environ.get(BEFORE), effort.choose(3.0, 0.3)
    for kind in kinds():
        rates: list[float] = []
        ratios: list[float] = []
        with ExitStack() as stack:
            now = started(stack, kind)
            earlier = started(stack, kind, before) if before else None
            for _ in range(effort.choose(9, 1)):
                then = put_under_load(earlier, seconds).rate if earlier else None
                rates.append(put_under_load(now, seconds).rate)
                if then is not None:
                    ratios.append(rates[-1] / then)
        workers = f", {WORKERS[kind]} workers" if WORKERS[kind] > 1 else ""
        yield Result(f"{kind}{workers}", Spread.of(rates), PER_SECOND)
        if ratios:
            goal = at_least(GOALS[kind])
            yield Result(f"{kind}{workers}, before", Spread.of(ratios), goal=goal)


def crowd(effort: Effort) -> Iterator[Result]:
    """Measure 27: the slowest hundredth of the answers to 600 clients; all that was said stands."""
    if not is_installed():
        return
    from belated.service.store import open_store

    for kind in kinds():
        slow: list[float] = []
        refused: list[float] = []
        for _ in range(effort.choose(3, 1)):
            with ExitStack() as stack:
                database = stack.enter_context(empty_database(kind))
                with Service(database, *options_for(kind)) as service:
                    service.create(BUSY)
                    load = put_under_load(
                        service, effort.choose(6.0, 0.5), effort.choose(CROWD, 50)
                    )
                slow.append(load.quantile(0.99))
                refused.append(load.refused / (load.refused + load.answered))
                with open_store(database) as store:
                    check_all_stands(load, store.counts(BUSY).of("decided"), "decided")
                    check_all_stands(load, store.counts(BUSY).of("told"), "told")
        yield Result(f"{kind}, 99 of 100", Spread.of(slow), SECONDS, None, at_most(2.0))
        yield Result(f"{kind}, share refused", Spread.of(refused))


def check_all_stands(load: Load, stored: int, kind: str) -> None:
    """Raise an error if the store has more or fewer records than were answered."""
    answered = len(load.tickets if kind == "decided" else load.told)
    if load.failed or stored != answered:
        raise RuntimeError(f"{answered} were {kind}, {stored} are stored, {load.failed} failed")


def idle_problems(effort: Effort) -> Iterator[Result]:
    """Measure 28: asks beside 2,000 idle problems against asks of a problem alone."""
    if not is_installed():
        return
    for kind in kinds():
        with ExitStack() as stack:
            alone, among = started(stack, kind), beside_many(stack, kind, effort)
            ratios: list[float] = []
            longest: list[float] = []
            for _ in range(effort.choose(7, 1)):
                seconds = effort.choose(4.0, 0.3)
                first = put_under_load(alone, seconds)
                second = put_under_load(among, seconds)
                ratios.append(second.quantile(0.99, ASK) / first.quantile(0.99, ASK))
                longest.append(second.quantile(1.0, ASK))
            stopped = among.stop()
        yield Result(f"{kind}, 99 of 100", Spread.of(ratios), goal=at_most(1.3))
        yield Result(f"{kind}, longest", Spread.of(longest), SECONDS, None, at_most(0.1))
        yield Result(f"{kind}, stopped after", exactly(stopped), SECONDS, None, at_most(5.0))


def beside_many(stack: ExitStack, kind: str, effort: Effort) -> Service:
    """A service with one problem that is used and many that are not."""
    service = with_idle(stack, kind, effort.choose(IDLE, 20))
    service.create(BUSY)
    put_under_load(service, 1.0)
    service.wait_until_compiled()
    return service


def with_idle(stack: ExitStack, kind: str, number: int) -> Service:
    """A service with so many problems that nobody uses."""
    from belated.service.admin.offline import create
    from belated.service.store import open_store

    database = stack.enter_context(empty_database(kind))
    with open_store(database) as store:
        for place in range(number):
            spec = {"arms": [f"arm {arm}" for arm in range(10)]}
            create(store, f"idle-{place}", spec, time.time())
    return stack.enter_context(Service(database, *options_for(kind)))
