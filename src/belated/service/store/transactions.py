"""Transactions: all reading and writing happens in one, and database errors are translated.

Reads and writes may come from any thread. A write waits for the write before it; they are fast
because one thread commits them in batches.
"""

import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from belated.service.store.errors import StoreUnavailable

Result = TypeVar("Result")
Opened = TypeVar("Opened")

ATTEMPTS = 3
DEADLOCK = "40P01"


class Transactions:
    """Runs work in transactions: on one engine that writes, and one that only reads."""

    def __init__(self, writer: Engine, reader: Engine) -> None:
        self.writer, self.reader = writer, reader

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """Run work that only reads."""
        return tried(lambda: transaction(self.reader, self.reader.connect), work)

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """Run work in one transaction, which is durable when this returns.

        If it fails, nothing is written: StoreUnavailable, or ValueError for values that the store
        cannot hold. Work that fails before its commit may be run again.
        """
        return tried(lambda: transaction(self.writer, self._connected), work)

    def _connected(self) -> AbstractContextManager[Connection]:
        """The connection to write on."""
        return self.writer.connect()

    def dispose(self) -> None:
        """Close all connections."""
        self.reader.dispose()
        self.writer.dispose()


def tried(
    opening: Callable[[], AbstractContextManager[Opened]], work: Callable[[Opened], Result]
) -> Result:
    """Run work in a transaction; one that failed before its commit may be tried again."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with opening() as opened:
                return work(opened)
        except Unfinished as unfinished:
            if attempt == ATTEMPTS or not unfinished.worth_another:
                raise StoreUnavailable(str(unfinished)) from unfinished.__cause__
    raise AssertionError("unreachable")


class KeptConnection:
    """A connection that is kept from one statement to the next, each a transaction by itself.

    The statements of every batch of requests run on such connections. To borrow one from the pool
    each time, through all layers, would cost as much as the statements.

    If the connection is lost during a statement that writes, no one knows whether it was committed,
    so it is not tried again. A connection that the server has closed before is therefore noticed
    before it is used.
    """

    def __init__(self, engine: Engine, writes: bool = False) -> None:
        self._engine, self._lock = engine, threading.Lock()
        self._writes = writes
        self._borrowed: Any = None
        self._cursor: Any = None  # the driver's own

    def run(self, work: Callable[[Any], Result]) -> Result:
        """Run work, which is one statement, with the driver's cursor.

        It fails as `Transactions.write` does.
        """
        return tried(self._opened, work)

    def close(self) -> None:
        """Give the connection back."""
        with self._lock:
            if self._borrowed is not None:
                self._borrowed.close()
                self._borrowed = None

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with self._lock:
            try:
                if self._writes and self._was_closed():
                    self._give_up(lost=True)
                if self._borrowed is None:
                    self._borrowed = self._engine.raw_connection()
                    self._cursor = self._borrowed.driver_connection.cursor()
                yield self._cursor
            except (DBAPIError, self._engine.dialect.loaded_dbapi.Error) as error:
                lost = self._give_up()
                raise translated(error, self._writes and lost, lost) from error
            except BaseException:
                self._give_up()
                raise

    def _was_closed(self) -> bool:
        """Whether the server has closed the connection: there is something to read, its end."""
        return self._borrowed is not None and can_be_read(self._borrowed.driver_connection.fileno())

    def _give_up(self, lost: bool = False) -> bool:
        """Give the connection back; returns whether it was lost."""
        borrowed, self._borrowed = self._borrowed, None
        if borrowed is None:
            return False
        lost = lost or bool(getattr(borrowed.driver_connection, "closed", False))
        with suppress(Exception):
            if lost:
                borrowed.invalidate()
            borrowed.close()
        return lost


def can_be_read(file: int) -> bool:
    """Whether there is something to read from a socket now."""
    if sys.platform == "win32":
        return bool(select.select([file], (), (), 0.0)[0])
    polled = select.poll()  # unlike `select` for any number of open files
    polled.register(file, select.POLLIN)
    return bool(polled.poll(0))


class Unfinished(Exception):
    """A transaction failed before its commit, so nothing of it was written."""

    def __init__(self, error: Exception, lost: bool = False) -> None:
        super().__init__(sentence(error))
        lost = lost or getattr(error, "connection_invalidated", False)
        deadlock = getattr(getattr(error, "orig", error), "sqlstate", None) == DEADLOCK
        self.worth_another = lost or deadlock


@contextmanager
def transaction(
    engine: Engine, connecting: Callable[[], AbstractContextManager[Connection]]
) -> Iterator[Connection]:
    """One transaction; errors of the database become errors of the store."""
    committing = False
    try:
        with connecting() as connection:
            begun = connection.begin()
            yield connection
            committing = True
            begun.commit()
    except (DBAPIError, engine.dialect.loaded_dbapi.Error) as error:
        raise translated(error, committing) from error
    except PoolTimeout as error:
        raise StoreUnavailable("the store has no free connection") from error


def translated(error: Exception, committing: bool, lost: bool = False) -> Exception:
    """The error of the store for an error of the database; programming errors stay as they are."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if kinds & {"IntegrityError", "DataError"}:
        return ValueError(f"the store cannot hold this: {reason(error)}")
    if "ProgrammingError" in kinds:
        return error
    return (
        StoreUnavailable(sentence(error), in_doubt=True) if committing else Unfinished(error, lost)
    )


def sentence(error: Exception) -> str:
    """The sentence that says why the store failed."""
    return f"the store cannot be used now: {reason(error)}"


def reason(error: Exception) -> str:
    """The first line of the database's message, which contains no values and no passwords."""
    return str(getattr(error, "orig", error)).strip().partition("\n")[0]
