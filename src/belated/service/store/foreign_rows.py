"""Rows that somebody else has written into a journal that this process owns.

The owner folds its own rows before it writes them, and would never see others. It numbers its rows
one after the other, so a number that it has not given out tells of a foreign row. The problems of
such rows are folded again, and all others go on.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, Engine, select

from belated.service.store.own_files import OwnFiles
from belated.service.store.schema import JOURNAL
from belated.service.store.sqlite_file import driver_of
from belated.service.store.transactions import Transactions

Result = TypeVar("Result")


class OwnedTransactions(Transactions):
    """Transactions of the owner of a journal; `end` is the last row that it knows of."""

    def __init__(self, writer: Engine, reader: Engine) -> None:
        super().__init__(writer, reader)
        self._lock = threading.Lock()  # writes wait for one another anyway
        self._foreign: list[tuple[int, int]] = []  # after one row, up to another
        self._watching = False
        self._files: OwnFiles | None = None
        self._kept: Connection | None = None  # from one write to the next, for the sake of speed
        self.end = 0

    def watch(self, path: Path | None) -> None:
        """Take all rows and files so far for known, and watch them from now on."""
        self.end, self._watching = self.read(last_row), True
        self._files = None if path is None else OwnFiles(path)

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """Run work in one transaction, and look whether somebody else was at the files."""
        if not self._watching:
            return super().write(work)

        def watched(connection: Connection) -> tuple[int, Result, int]:
            return last_row(connection), work(connection), last_row(connection)

        with self._lock:
            before, result, after = super().write(watched)
            self._pass(before)
            self.end = after
            if self._files is not None:
                self._files.check()
        return result

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """The connection to write on, which is closed only if something fails."""
        if self._files is None:  # readers may need it, too: see `SqliteStore`
            with super()._connected() as connection:
                yield connection
            return
        if self._kept is None:
            self._kept = self.writer.connect()
        try:
            yield self._kept
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.close()  # which undoes what is not committed

    def dispose(self) -> None:
        """Close all connections."""
        with self._lock:
            self._close()
        super().dispose()

    @property
    def saw_foreign_rows(self) -> bool:
        """Whether a write has found rows that were not there before."""
        return bool(self._foreign)

    def problems_with_foreign_rows(self) -> set[str]:
        """The problems into which somebody else has written since the last call."""

        def names(connection: Connection) -> set[str]:
            found: set[str] = set()
            for first, last in self._foreign:
                rows = select(JOURNAL.c.problem).where(JOURNAL.c.seq > first, JOURNAL.c.seq <= last)
                found.update(connection.scalars(rows.distinct()))
            return found

        with self._lock:
            self._pass(self.read(last_row))
            written = self.read(names)
            self._foreign.clear()
        return written

    def _pass(self, last: int) -> None:
        """Know of the rows up to this one, which others have written."""
        if last > self.end:
            self._foreign.append((self.end, last))
            self.end = last


def last_row(connection: Connection) -> int:
    """The number of the last row of the journal."""
    (last,) = driver_of(connection).execute("select max(seq) from journal").fetchone()
    return last or 0
