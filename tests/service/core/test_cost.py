"""No call looks at more of the store because there is more in it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import psycopg
from psycopg.pq import TransactionStatus
from sqlalchemy import event

from belated.service.store import Note, Store, transactions
from belated.service.store.postgres import PostgresStore, driver_of
from tests.service.material import decision, experts, expired, told

FEW, MANY = 200, 3000
READ_ROWS = """
select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0) from pg_stat_xact_user_tables"""


@contextmanager
def counted(store: Store) -> Iterator[list[int]]:
    """Count what the database does: SQLite's steps, or the rows that PostgreSQL reads."""
    if isinstance(store, PostgresStore):
        with counted_rows(store) as work:
            yield work
        return
    steps = [0]

    def more() -> None:
        steps[0] += 1

    def begin(connection: Any) -> None:
        connection.connection.driver_connection.set_progress_handler(more, 1)

    engines = {store._transactions.reader, store._transactions.writer}
    for engine in engines:
        event.listen(engine, "begin", begin)
    try:
        yield steps
    finally:
        for engine in engines:
            event.remove(engine, "begin", begin)


@contextmanager
def counted_rows(store: PostgresStore) -> Iterator[list[int]]:
    """Count the rows that are read, all in transactions: the server counts within these."""
    work, tried, writer = [0], transactions.tried, store._transactions.writer

    def counting(opening: Any, work_of: Callable[[Any], Any]) -> Any:
        def measured(opened: Any) -> Any:
            is_kept = isinstance(opened, psycopg.Cursor)
            driver = opened.connection if is_kept else driver_of(opened)
            before = rows_read(driver)  # the server's count goes on from earlier transactions
            try:
                return work_of(opened)
            finally:
                if driver.info.transaction_status == TransactionStatus.INERROR:
                    driver.rollback()  # what it read is not known any more; it is tried otherwise
                else:
                    work[0] += rows_read(driver) - before
                if is_kept:  # whose statements commit themselves, where nobody counts
                    driver.commit()

        return tried(opening, measured)

    with (
        patch.object(transactions, "tried", counting),
        patch.object(store._transactions, "reader", writer),
        patch.object(store, "_following", transactions.KeptConnection(writer)),
        patch.object(store, "_appending", transactions.KeptConnection(writer)),
    ):
        yield work
        store._following.close()
        store._appending.close()


def rows_read(driver: "psycopg.Connection[Any]") -> int:
    """How many rows this connection has read of the store's tables."""
    row = driver.execute(READ_ROWS).fetchone()
    assert row is not None
    return int(row[0])


def grow(store: Store, start: int, end: int) -> None:
    """Decide many, tell the half of them; a few are due. Much is noted of another problem."""
    if start == 0:
        store.create_problem("others", {}, at=0.6)
    numbers = range(start, end)
    store.append(
        [
            decision(
                f"t{number:06d}",
                key=f"k{number}",
                expires_at=1e9 if number > 9 else 1.0,
                expires_round=10**6 if number > 9 else 1,
            )
            for number in numbers
        ],
        [told(f"t{number:06d}") for number in numbers if number % 2],
        [Note("others", "late", {}, 40.0) for _ in numbers],
    )


CALLS: dict[str, Callable[[Store, str], Any]] = {
    "ticket": lambda store, _: store.ticket("t000101"),
    "counts": lambda store, _: store.counts("ads"),
    "notes": lambda store, _: store.notes("ads"),
    "news": lambda store, _: store.news(store.end(), limit=10),
    "tail": lambda store, _: store.tail(store.tail(limit=100)[1], limit=10),
    "ask": lambda store, new: store.append([decision(new, key=new)], []),
    "ask again": lambda store, new: store.append([decision(new, key="k7")], []),
    "ask experts": lambda store, new: store.append([experts(new, "a", "b")], []),
    "notes after": lambda store, _: store.notes_after(store.end()),
    "keys of a group": lambda store, _: store.decided_under(
        {(problem, key) for problem in ("ads", "others") for key in ("k3", "k5", "new")}
    ),
    "tickets of a group": lambda store, _: store.tickets(["t000003", "t000101", "nothing"]),
    "tell": lambda store, new: store.append([], [told("t000100" if new == "few" else "t000102")]),
    "tell again": lambda store, _: store.append([], [expired("t000101")]),
    "tell unknown": lambda store, _: store.append([], [told("nothing")]),
}


def test_costs_do_not_grow(store: Store) -> None:
    """Every call does about the same work with many tickets as with few."""
    costs: dict[str, list[int]] = {name: [] for name in CALLS}
    for size, start, end in (("few", 0, FEW), ("many", FEW, MANY)):
        grow(store, start, end)
        for name, call in CALLS.items():
            with counted(store) as work:
                call(store, size if name == "tell" else f"{size} {name}")
            costs[name] += work
    grown = {name: (few, many) for name, (few, many) in costs.items() if many > 2 * few + 60}
    assert grown == {}


def test_the_cost_of_ages_is_seen(store: Store) -> None:
    """The one call that looks at every open ticket shows that the count would notice."""
    found = []
    for start, end in ((0, FEW), (FEW, MANY)):
        grow(store, start, end)
        with counted(store) as work:
            store.ages("ads", [])
        found += work
    assert found[1] > 5 * found[0]
