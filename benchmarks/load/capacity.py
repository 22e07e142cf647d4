"""Measure 29: what a decision and a problem cost; docs/scaling.md reckons with it.

An ask or a tell is carried out by one worker and learned by all. So with W workers it takes
`own + W * every` seconds of their processors: measured with one and with more workers, each with as
many clients, the two parts are found. The database takes its time besides.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from benchmarks.load.clients import Load
from benchmarks.load.databases import POSTGRES, SERVER, SQLITE, empty_database, kinds
from benchmarks.load.service import Service, cpu_seconds_of, family_of
from benchmarks.load.under_load import (
    ANY_RATE,
    BUSY,
    IDLE,
    put_under_load,
    started,
    with_idle,
)
from benchmarks.measure import BYTES, SECONDS, Effort, Result, exactly
from benchmarks.measures.asks import CLIENTS, is_installed
from benchmarks.timing import Spread

FEW, MANY, MOST = 1, 3, 4  # workers


def capacity(effort: Effort) -> Iterator[Result]:
    """Measure 29: processor time of an ask or tell by part, and memory and disk by thing kept."""
    if not is_installed() or not Path("/proc").is_dir():
        return
    with ExitStack() as stack:
        service = started(stack, SQLITE)
        spent = [spent_on(service, effort) for _ in range(effort.choose(5, 1))]
        yield Result("SQLite, one process", Spread.of([each.service for each in spent]), SECONDS)
        talks = Spread.of([each.talk for each in spent])
        yield Result("of it: to read and answer requests", talks, SECONDS)
    if POSTGRES in kinds():
        yield from shared_costs(effort)
    yield from kept_things(effort)


def shared_costs(effort: Effort) -> Iterator[Result]:
    """The cost of a request to the worker that has it, to every worker, and to PostgreSQL.

    Then what these say of more workers, and of two databases, against what is measured.
    """
    own: list[float] = []
    every: list[float] = []
    server: list[float] = []
    more: list[float] = []
    apart: list[float] = []
    with ExitStack() as stack:
        by_workers = {each: with_workers(stack, each) for each in (FEW, MANY, MOST)}
        second = with_workers(stack, FEW)
        for _ in range(effort.choose(5, 1)):
            few, many, most = (
                spent_on(service, effort, workers * CLIENTS)
                for workers, service in by_workers.items()
            )
            slope = (many.service - few.service) / (MANY - FEW)
            every.append(slope)
            own.append(few.service - FEW * slope)
            server.append((few.server + many.server) / 2)
            more.append(most.service / (own[-1] + MOST * slope))
            apart.append(spent_on_both(by_workers[FEW], second, effort) / (own[-1] + FEW * slope))
    yield Result("the worker that has it", Spread.of(own), SECONDS)
    yield Result("every worker", Spread.of(every), SECONDS)
    yield Result("PostgreSQL", Spread.of(server), SECONDS)
    yield Result(f"{MOST} workers, against these", Spread.of(more))
    yield Result("two databases, against these", Spread.of(apart))


def with_workers(stack: ExitStack, workers: int) -> Service:
    """A service with so many workers on a database of its own, with one problem."""
    database = stack.enter_context(empty_database(POSTGRES))
    service = stack.enter_context(Service(database, "--workers", str(workers), *ANY_RATE))
    service.create(BUSY)
    put_under_load(service, 1.0)
    service.wait_until_compiled()
    return service


def spent_on_both(first: Service, second: Service, effort: Effort) -> float:
    """The processor seconds of a request if two services, each with its clients, work at once."""
    services, loads = (first, second), list[Load]()
    begun = sum(each.cpu_seconds() for each in services)
    crowds = [
        threading.Thread(
            target=lambda service=each: loads.append(
                put_under_load(service, effort.choose(4.0, 0.3))
            )
        )
        for each in services
    ]
    for each in crowds:
        each.start()
    for each in crowds:
        each.join()
    ended = sum(each.cpu_seconds() for each in services)
    return (ended - begun) / sum(load.answered for load in loads)


class Spent(NamedTuple):
    """The processor seconds of an ask or a tell: of the service, and of the PostgreSQL server.

    `talk` is the part of the service's threads that read requests and answer them.
    """

    service: float
    talk: float
    server: float


def spent_on(service: Service, effort: Effort, clients: int = CLIENTS) -> Spent:
    """The processor seconds of an ask or a tell under load."""
    begun = (service.cpu_seconds(), service.loop_seconds(), of_the_server())
    load = put_under_load(service, effort.choose(4.0, 0.3), clients)
    ended = (service.cpu_seconds(), service.loop_seconds(), of_the_server())
    return Spent(*((b - a) / load.answered for a, b in zip(begun, ended, strict=True)))


def of_the_server() -> float:
    """The processor time of all processes of the PostgreSQL server, if it is on this machine."""
    if SERVER not in os.environ:
        return 0.0
    import psycopg

    with psycopg.connect(os.environ[SERVER]) as connection:
        row = connection.execute("select pg_read_file('postmaster.pid')").fetchone()
    assert row is not None
    return sum(cpu_seconds_of(pid) for pid in family_of(int(row[0].split()[0])))


def kept_things(effort: Effort) -> Iterator[Result]:
    """Memory of an idle problem, and disk of an ask with its tell; measure 24 has open tickets."""
    with ExitStack() as stack:
        one, many = with_idle(stack, SQLITE, 1), with_idle(stack, SQLITE, effort.choose(IDLE, 20))
        more = (many.memory() - one.memory()) / (effort.choose(IDLE, 20) - 1)
        yield Result("memory of an idle problem", exactly(more), BYTES)
    with ExitStack() as stack:
        database = stack.enter_context(empty_database(SQLITE))
        service = stack.enter_context(Service(database, *ANY_RATE))
        service.create(BUSY)
        put_under_load(service, 1.0)
        size = used(database)
        load = put_under_load(service, effort.choose(10.0, 0.5))
        written = used(database) - size
        yield Result("disk of an ask and its tell", exactly(2 * written / load.answered), BYTES)


def used(database: str) -> int:
    """The bytes of a SQLite file; what is in its write-ahead log comes to it later."""
    return Path(database).stat().st_size
