"""Measures 26 to 28 and 30: a service in its own processes, and clients on plain sockets.

The clients share the processors with the service, so a rate is one of both together; they are as
lean as Python allows (`load.clients`). PostgreSQL is measured if BELATED_PG_URL names a server.
"""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Any

from benchmarks.load.clients import ASK, Crowd, Load
from benchmarks.load.databases import POSTGRES, SQLITE, empty_database, kinds
from benchmarks.load.service import CONCEALED, Service
from benchmarks.measure import PER_SECOND, SECONDS, Effort, Result, at_least, at_most, exactly
from benchmarks.measures.asks import CLIENTS, is_installed
from benchmarks.timing import Spread

BEFORE = "BELATED_BEFORE"  # the variable with the Python of an earlier version, to compare with
BUSY = "busy"
CROWD, IDLE = 600, 2_000
GOALS = {SQLITE: 2.0, POSTGRES: 3.0}
WORKERS = {SQLITE: 1, POSTGRES: 2}
LINEAR = {"learner": "linear", "default_loss": 1.0}
DEVICES = ("phone", "desktop", "tablet")
ANY_RATE = ("--rate", "0")


def options_for(kind: str) -> list[str]:
    """The options of a service on this kind of database."""
    workers = WORKERS[kind]
    return [*ANY_RATE, *(["--workers", str(workers)] if workers > 1 else [])]


def started(
    stack: ExitStack,
    kind: str,
    python: str = sys.executable,
    learner: Mapping[str, Any] = CONCEALED,
    bodies: Sequence[bytes] = (b"",),
) -> Service:
    """A service with one problem, whose learner is compiled."""
    database = stack.enter_context(empty_database(kind))
    service = stack.enter_context(Service(database, *options_for(kind), python=python))
    service.create(BUSY, learner=learner)
    put_under_load(service, 1.0, bodies=bodies)
    service.wait_until_compiled()
    return service


def put_under_load(
    service: Service, seconds: float, clients: int = CLIENTS, bodies: Sequence[bytes] = (b"",)
) -> Load:
    """Let clients ask and tell for a while."""
    with closing(Crowd(service.address, [BUSY], clients, bodies=bodies)) as crowd:
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


def contexts(effort: Effort) -> Iterator[Result]:
    """Measure 30: asks with a context and tells, against asks without one and tells."""
    if not is_installed():
        return
    seconds, bodies = effort.choose(3.0, 0.3), visitors()
    for kind in kinds():
        rates: list[float] = []
        ratios: list[float] = []
        with ExitStack() as stack:
            without, known = (
                started(stack, kind),
                started(stack, kind, learner=LINEAR, bodies=bodies),
            )
            for _ in range(effort.choose(9, 1)):
                alone = put_under_load(without, seconds).rate
                rates.append(put_under_load(known, seconds, bodies=bodies).rate)
                ratios.append(rates[-1] / alone)
        yield Result(kind, Spread.of(rates), PER_SECOND)
        yield Result(f"{kind}, against none", Spread.of(ratios), goal=at_least(0.7))


def visitors() -> list[bytes]:
    """Asks with the contexts of some hundred visitors, whose names are hashed."""
    known = [
        {"age": 18 + k % 60, "device": DEVICES[k % 3], "hour": k % 24, "visits": k % 7}
        for k in range(120)
    ]
    return [json.dumps({"context": each}).encode() for each in known]


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
