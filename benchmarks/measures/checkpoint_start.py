"""Measure 25: how long a service takes to start from a checkpoint.

A problem plays some rounds, which are folded into a checkpoint, and then many more. The rows before
them, of which a start must not read any, are written by the database itself. No snapshot helps.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.load.databases import SERVER, own_schema
from benchmarks.measure import SECONDS, Effort, Result, at_most
from benchmarks.measures.asks import is_installed
from benchmarks.measures.cold_service import ARMS, asked, serving
from benchmarks.timing import Spread

if TYPE_CHECKING:
    from belated.service.store import Store

BEFORE, AFTER = 10_000_000, 10_000  # decisions
FIRST = 500  # rounds that are really folded into the checkpoint
AT_ONCE = 500
PROBLEM = "shop"
INDEXES = ("journal_decision", "journal_outcome")
ROWS = {
    "sqlite": "with recursive number (n) as (select 1 union all select n + 1 from number "
    "where n < {count}) insert into journal (seq, kind, problem, at, ticket, arm, round, "
    "probability) select n, 'decided', '{problem}', 0.0, n, 'arm 1', n, 0.5 from number",
    "postgresql": "insert into journal (turn, seq, kind, problem, at, ticket, arm, round, "
    "probability) select 1, n, 'decided', '{problem}', 0.0, n, 'arm 1', n, 0.5 "
    "from generate_series(1, {count}) as n",
}


def starts(effort: Effort) -> Iterator[Result]:
    """Measure 25: SQLite, and PostgreSQL if a server is named."""
    if not is_installed():
        return
    with tempfile.TemporaryDirectory() as folder:
        yield from started("SQLite", f"{folder}/belated.db", Path(folder), effort)
    if url := os.environ.get(SERVER):
        with tempfile.TemporaryDirectory() as folder, own_schema(url) as address:
            yield from started("PostgreSQL", address, Path(folder), effort)


def started(name: str, address: str, folder: Path, effort: Effort) -> Iterator[Result]:
    """Time the start with the rows before the checkpoint deleted, and with them in the table."""
    from belated.service.store import open_store

    mode = effort.choose("background", "never")
    if not effort.quick:  # as after `belated warmup`
        cache = {**os.environ, "BELATED_CACHE_DIR": str(folder / "cache")}
        command = [sys.executable, "-m", "belated", "warmup", "practical-bandit"]
        subprocess.run(command, env=cache, check=True, capture_output=True)
    with open_store(address, "off") as store:
        play(store, effort.choose(AFTER, 50))
    times = [timed(folder, mode, address) for _ in range(effort.choose(5, 1))]
    yield Result(f"{name}, deleted", Spread.of(times), SECONDS, None, at_most(5.0))
    with open_store(address, "off") as store:
        fill(store, effort.choose(BEFORE, 100))
    times = [timed(folder, mode, address) for _ in range(effort.choose(5, 1))]
    yield Result(f"{name}, in the table", Spread.of(times), SECONDS)


def play(store: "Store", after: int) -> None:
    """Play some rounds, fold them into a checkpoint, and play more; all are told."""
    from belated.service.admin.offline import create
    from belated.service.admin.retain import retain
    from belated.service.store.queries import position_of
    from belated.service.store.records import Retention

    room = position_of(0 if store.one_owner else 1, BEFORE)
    store.retain([], Retention(room, -1.0, 0.0), "", [], {})
    if not store.one_owner:
        run(store, f"select setval('journal_seq', {BEFORE + 1})")
    else:
        run(store, f"insert into journal (seq, kind, problem, at) values ({BEFORE}, 'x', 'x', 0)")
    create(store, PROBLEM, {"arms": ARMS}, 1.0)
    chance = random.Random(1)
    rounds(store, FIRST, 2.0, chance)
    retain(store, 0.0, 3.0, None)
    rounds(store, after, 4.0, chance)


def rounds(store: "Store", number: int, at: float, chance: random.Random) -> None:
    """Write so many decisions, and their losses."""
    from belated.service.store import Decision, Outcome
    from belated.service.tickets.ticket_ids import new_ticket_id

    for first in range(0, number, AT_ONCE):
        made = [
            Decision(
                new_ticket_id(at), PROBLEM, first + place, chance.choice(ARMS), 0.1, None, "", at
            )
            for place in range(min(AT_ONCE, number - first))
        ]
        told = [Outcome(each.ticket, str(each.arm), "told", chance.random(), at) for each in made]
        store.append(made, told)


def fill(store: "Store", count: int) -> None:
    """Put rows before the checkpoint; no index is needed to start, and they take long to make."""
    for name in INDEXES:
        run(store, f"drop index {name}")
    kind = "sqlite" if store.one_owner else "postgresql"
    run(store, ROWS[kind].format(count=count - 1, problem=PROBLEM))


def run(store: "Store", statement: str) -> None:
    """Run a statement."""
    store._transactions.write(lambda connection: connection.exec_driver_sql(statement))


def timed(folder: Path, mode: str, address: str) -> float:
    """The seconds from the start of the service to its first answer, without any snapshot."""
    from belated.service.store import open_store

    with open_store(address) as store:
        store.snapshots.prune(PROBLEM, 0)
    with serving(folder, mode, address) as service:
        asked(service, PROBLEM)
        return time.perf_counter() - service.begun
