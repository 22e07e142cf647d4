"""Transactions: all reading and writing happens in one, and database errors are translated.

Reads and writes may come from any thread. A write waits for the write before it; they are fast
because one thread commits them in batches.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from belated.service.store.errors import StoreUnavailable

Result = TypeVar("Result")

ATTEMPTS = 3
DEADLOCK = "40P01"


class Transactions:
    """Runs work in transactions: on one engine that writes, and one that only reads."""

    def __init__(self, writer: Engine, reader: Engine) -> None:
        self.writer, self.reader = writer, reader

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """Run work that only reads."""
        return self._tried(self.reader, work)

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """Run work in one transaction, which is durable when this returns.

        If it fails, nothing is written: StoreUnavailable, or ValueError for values that the store
        cannot hold. Work that fails before its commit may be run again.
        """
        return self._tried(self.writer, work)

    def dispose(self) -> None:
        """Close all connections."""
        self.reader.dispose()
        self.writer.dispose()

    def _tried(self, engine: Engine, work: Callable[[Connection], Result]) -> Result:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with transaction(engine) as connection:
                    return work(connection)
            except Unfinished as unfinished:
                if attempt == ATTEMPTS or not unfinished.worth_another:
                    raise StoreUnavailable(str(unfinished)) from unfinished.__cause__
        raise AssertionError("unreachable")


class Unfinished(Exception):
    """A transaction failed before its commit, so nothing of it was written."""

    def __init__(self, error: Exception) -> None:
        super().__init__(sentence(error))
        lost = getattr(error, "connection_invalidated", False)
        deadlock = getattr(getattr(error, "orig", None), "sqlstate", None) == DEADLOCK
        self.worth_another = lost or deadlock


@contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """One transaction; errors of the database become errors of the store."""
    committing = False
    try:
        with engine.connect() as connection:
            begun = connection.begin()
            yield connection
            committing = True
            begun.commit()
    except (DBAPIError, engine.dialect.loaded_dbapi.Error) as error:
        raise translated(error, committing) from error
    except PoolTimeout as error:
        raise StoreUnavailable("the store has no free connection") from error


def translated(error: Exception, committing: bool) -> Exception:
    """The error of the store for an error of the database; programming errors stay as they are."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if kinds & {"IntegrityError", "DataError"}:
        return ValueError(f"the store cannot hold this: {reason(error)}")
    if "ProgrammingError" in kinds:
        return error
    return StoreUnavailable(sentence(error), in_doubt=True) if committing else Unfinished(error)


def sentence(error: Exception) -> str:
    """The sentence that says why the store failed."""
    return f"the store cannot be used now: {reason(error)}"


def reason(error: Exception) -> str:
    """The first line of the database's message, which contains no values and no passwords."""
    return str(getattr(error, "orig", error)).strip().partition("\n")[0]
