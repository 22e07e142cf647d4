"""Measure 14: the service's store against a bare loop of inserts into the same database.

The bare loop keeps the same records as rows of one table under a unique key, a hundred to a commit,
and does nothing else: no check, no answer, no open tickets, no tallies. For information it also
runs with nothing but a ticket and a text in each row.
"""

import importlib.util
import itertools
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.load.databases import SERVER, own_schema
from benchmarks.measure import Effort, Result, at_most
from benchmarks.timing import Contestant, race

if TYPE_CHECKING:
    from belated.service.store import Decision, Outcome, Store

EVENTS = 100  # events in a transaction
ARMS = 10
BODY = "x" * 100
STORE, RECORDS, TEXTS = "store", "the same records", "plain texts"
COLUMNS = {
    "kind": "text",
    "ticket": "text",
    "problem": "text",
    "round": "bigint",
    "arm": "text",
    "probability": "double precision",
    "state_version": "text",
    "at": "double precision",
    "key": "text",
    "expires_at": "double precision",
    "loss": "double precision",
}

Row = tuple[Any, ...]
Insert = Callable[[str, Sequence[str], list[Row]], None]
Batch = tuple["list[Decision]", "list[Outcome]"]


class Appends:
    """Transactions of the store: half are decisions, half are outcomes of earlier decisions."""

    def __init__(self, store: "Store", numbers: Iterator[int]) -> None:
        self.store, self.numbers = store, numbers
        self.batches: list[Batch] = []
        self.told: list[Outcome] = []
        store.create_problem("bench", {}, at=0.0)

    def prepare(self, count: int) -> None:
        """Make what is to be written in the next turn."""
        from belated.service.store import Decision, Outcome

        self.batches.clear()
        for _ in range(count):
            decisions = [
                Decision(
                    ticket, "bench", number, f"arm {number % ARMS}", 0.1, None, "v", 1.0, ticket,
                    None, 1e9,
                )
                for number, ticket in named(self.numbers, EVENTS // 2)
            ]  # fmt: skip
            self.batches.append((decisions, self.told))
            self.told = [
                Outcome(each.ticket, str(each.arm), "told", 0.5, 2.0) for each in decisions
            ]

    def __call__(self, count: int) -> None:
        for decisions, outcomes in self.batches:
            self.store.append(decisions, outcomes)


class Inserts:
    """Inserts into a table, of the batches that the store gets in the same turn."""

    def __init__(
        self, insert: Insert, table: str, columns: Sequence[str], row: Callable[[Any], Row]
    ) -> None:
        self.insert, self.table, self.columns, self.row = insert, table, columns, row
        self.batches: list[list[Row]] = []

    def prepare(self, batches: list[Batch]) -> None:
        """Make what is to be written in the next turn."""
        self.batches = [
            [self.row(each) for each in (*decisions, *outcomes)] for decisions, outcomes in batches
        ]

    def __call__(self, count: int) -> None:
        for batch in self.batches:
            self.insert(self.table, self.columns, batch)


def record_row(each: Any) -> Row:
    """Return a decision or an outcome with its kind as a row, column by column."""
    kind = getattr(each, "kind", "decided")
    return (kind, *(getattr(each, name, None) for name in list(COLUMNS)[1:]))


def text_row(each: Any) -> Row:
    """Return a decision or an outcome as a row of a unique text and another text."""
    return f"{getattr(each, 'kind', 'decided')} {each.ticket}", BODY


def named(numbers: Iterator[int], count: int) -> Iterator[tuple[int, str]]:
    """Yield the next numbers, and tickets that rise with them."""
    return ((number, f"{number:024x}") for number in itertools.islice(numbers, count))


def stores(effort: Effort) -> Iterator[Result]:
    """Measure 14: SQLite, and PostgreSQL if a server is named; none if its library is missing."""
    if importlib.util.find_spec("sqlalchemy") is None:
        return
    with tempfile.TemporaryDirectory() as folder, bare_sqlite(Path(folder)) as insert:
        yield from raced("SQLite", f"{folder}/belated.db", insert, effort)
    if url := os.environ.get(SERVER):
        with own_schema(url) as address, bare_postgres(address) as insert:
            yield from raced("PostgreSQL", address, insert, effort)


def raced(name: str, address: str, insert: Insert, effort: Effort) -> Iterator[Result]:
    """Time the store and the bare loops in turns; each waits for its commits."""
    from belated.service.store import open_store

    count = effort.choose(20, 2)
    bare = {
        RECORDS: Inserts(insert, "records", list(COLUMNS), record_row),
        TEXTS: Inserts(insert, "texts", ["ticket", "body"], text_row),
    }
    with open_store(address) as store:
        appends = Appends(store, itertools.count())

        def prepare() -> None:
            appends.prepare(count)
            for inserts in bare.values():
                inserts.prepare(appends.batches)

        works: dict[str, Callable[[int], None]] = {STORE: appends, **bare}
        contestants = [Contestant(what, work, count) for what, work in works.items()]
        result = race(contestants, effort.choose(21, 2), prepare, clock=time.perf_counter_ns)
    for rival, goal in ((RECORDS, at_most(2.0)), (TEXTS, None)):
        yield Result(
            f"{name}, {rival}",
            result.ratio(STORE, to=rival),
            goal=goal,
            ours=result.time(STORE),
            rival=result.time(rival),
        )


def tables() -> list[str]:
    """Return the statements that make the tables of the bare loops, for both databases."""
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    return [
        f"create table records ({columns}, unique (ticket, kind))",
        "create table texts (ticket text unique, body text)",
    ]


@contextmanager
def bare_sqlite(folder: Path) -> Iterator[Insert]:
    """Open an SQLite file with the durability settings of the store."""
    with closing(sqlite3.connect(folder / "bare.db", isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        for statement in tables():
            connection.execute(statement)

        def insert(table: str, columns: Sequence[str], rows: list[Row]) -> None:
            places = ", ".join("?" * len(columns))
            connection.execute("begin immediate")
            connection.executemany(f"insert into {table} values ({places})", rows)
            connection.execute("commit")

        yield insert


@contextmanager
def bare_postgres(address: str) -> Iterator[Insert]:
    """Make tables on the PostgreSQL server that the store uses."""
    import psycopg

    with psycopg.connect(address) as connection:
        for statement in tables():
            connection.execute(statement)
        connection.commit()

        def insert(table: str, columns: Sequence[str], rows: list[Row]) -> None:
            types = [COLUMNS.get(name, "text") for name in columns]
            arrays = ", ".join(f"%s::{kind}[]" for kind in types)
            connection.execute(
                f"insert into {table} select * from unnest({arrays})",
                [list(column) for column in zip(*rows, strict=True)],
            )
            connection.commit()

        yield insert
