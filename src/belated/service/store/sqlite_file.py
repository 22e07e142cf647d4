"""The SQLite file of a store: its mark, and the connections that write and read it."""

import functools
import logging
import sqlite3
from pathlib import Path
from typing import Literal

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event

from belated.service.store.migrations import migrate

log = logging.getLogger(__name__)

Durability = Literal["full", "normal", "off"]
APPLICATION = 0x62_65_6C_44  # "belD": the application id that SQLite stores in the file
SOUND = (3, 51, 3)  # older versions: two connections that checkpoint at once can damage a file


def writing_engine(path: Path | None, durability: Durability) -> Engine:
    """One connection that writes; a transaction takes the write lock when it begins."""
    engine = connecting(path, 1)

    @event.listens_for(engine, "connect")
    def configure(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        check_ours(connection)
        connection.execute("pragma journal_mode = wal")
        connection.execute(f"pragma synchronous = {durability}")
        connection.execute("pragma cache_size = -49152")  # KiB

    begin_with(engine, "begin immediate")
    return engine


def reading_engine(path: Path) -> Engine:
    """Connections that cannot write."""
    engine = connecting(path, 4)

    @event.listens_for(engine, "connect")
    def configure(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        connection.text_factory = readable
        connection.execute("pragma query_only = on")

    begin_with(engine, "begin")
    return engine


def readable(text: bytes) -> str:
    """A text of the file; bytes that are not UTF-8 must not keep others from being read."""
    return text.decode(errors="surrogateescape")


def connecting(path: Path | None, size: int) -> Engine:
    """An engine that keeps up to so many connections."""
    url = URL.create("sqlite", database=":memory:" if path is None else str(path))
    own = {"check_same_thread": False, "timeout": 10.0}
    return create_engine(
        url,
        poolclass=QueuePool,
        pool_size=size,
        max_overflow=0,
        connect_args=own,
        hide_parameters=True,
    )


def begin_with(engine: Engine, statement: str) -> None:
    """Begin transactions with this statement; the driver would not begin one before a read."""

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(statement)


def driver_of(connection: Connection) -> sqlite3.Connection:
    """The connection of the driver itself, the fastest way to run a statement."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


class NotAStore(ValueError):
    """The file is a database of another program."""


def check_ours(connection: sqlite3.Connection) -> None:
    """Refuse a file that is neither a store nor empty, before anything is changed."""
    (application,) = connection.execute("pragma application_id").fetchone()
    (tables,) = connection.execute("select count(*) from sqlite_master").fetchone()
    if tables and application != APPLICATION:
        raise NotAStore("is a database, but not a store of the decision service")


def prepare(connection: Connection) -> None:
    """Mark the file as a store, and migrate it to the newest schema."""
    connection.exec_driver_sql(f"pragma application_id = {APPLICATION}")
    migrate(connection)


@functools.cache
def mention_old_library() -> None:
    """Log once per process that this SQLite library has a known fault."""
    if sqlite3.sqlite_version_info < SOUND:
        log.info(
            "SQLite %s has a fault in its write-ahead log that %s mends; belated keeps clear of "
            "it with one writing connection, and a newer library is safer",
            sqlite3.sqlite_version,
            ".".join(map(str, SOUND)),
        )
