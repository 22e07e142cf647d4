"""The store of a sweep: one SQLite file that keeps every finished run under its key.

A run is kept once `put` has returned, even if the process is killed. The file belongs to one
process at a time; the lock is the operating system's, so it ends with the process that held it.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from belated import __version__

APPLICATION = 0x62_65_6C_53  # "belS", SQLite's mark for the program that a file belongs to
FORMAT = 1
TABLES = (
    "create table runs (key text primary key, row text, failure text, seconds real not null)"
    " without rowid",
    "create table facts (name text primary key, value text not null) without rowid",
)


class RunResult(NamedTuple):
    """The result of a run: its row as JSON, or the message of the error that ended it.

    The time that it took and the version of belated are stored too, but are not part of the row.
    """

    row: str | None
    failure: str | None
    seconds: float
    version: str = __version__


class SweepStore:
    """The results of runs by key. Only the first result for a key is stored."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with self._one_sentence():
            self._connection = sqlite3.connect(self.path, timeout=1.0, isolation_level=None)
        try:
            with self._one_sentence():
                self._open()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> "SweepStore":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the file for other processes."""
        self._connection.close()

    def put(self, key: str, outcome: RunResult) -> bool:
        """Store the result of a run; if it has one already, count a duplicate and return False."""
        with self._one_sentence(), self._transaction():
            new = self._do(
                "insert into runs values (?, ?, ?, ?) on conflict do nothing",
                key,
                outcome.row,
                outcome.failure,
                outcome.seconds,
            ).rowcount
            if not new:
                self._do("update facts set value = value + 1 where name = 'duplicates'")
        return bool(new)

    def outcomes(self, keys: Iterable[str]) -> dict[str, RunResult]:
        """The stored results of these runs."""
        version = self.version
        with self._one_sentence():
            stored = {
                key: RunResult(row, failure, seconds, version)
                for key, row, failure, seconds in self._do("select * from runs")
            }
        return {key: stored[key] for key in keys if key in stored}

    def forget_failures(self, keys: Iterable[str]) -> None:
        """Delete the results of failed runs, so that they can be tried again."""
        with self._one_sentence(), self._transaction():
            for key in keys:
                self._do("delete from runs where key = ? and failure is not null", key)

    @property
    def version(self) -> str:
        """The version of belated that the runs were made with."""
        return self._fact("version")

    @property
    def duplicates(self) -> int:
        """How often a result came for a run that was stored already."""
        return int(self._fact("duplicates"))

    def _open(self) -> None:
        """Lock the file for this process, after checking that it is a store or empty."""
        self._do("pragma locking_mode = exclusive")
        self._do("begin exclusive")
        application = self._number("pragma application_id")
        fresh = not (application or self._number("select count(*) from sqlite_master"))
        if not fresh and application != APPLICATION:
            raise ValueError(f"{self.path.name} is a database, but not a sweep's store")
        if not fresh and self._number("pragma user_version") != FORMAT:
            raise ValueError(f"{self.path.name} is a store of another format; use a new file")
        if fresh:
            self._create()
        self._do("commit")
        # With a write-ahead log a killed process loses no commit, and no commit waits for the disk.
        self._do("pragma journal_mode = wal")
        self._do("pragma synchronous = normal")

    def _create(self) -> None:
        for table in TABLES:
            self._do(table)
        self._do("insert into facts values ('version', ?), ('duplicates', '0')", __version__)
        self._do(f"pragma application_id = {APPLICATION}")
        self._do(f"pragma user_version = {FORMAT}")

    def _fact(self, name: str) -> str:
        with self._one_sentence():
            return str(self._do("select value from facts where name = ?", name).fetchone()[0])

    def _number(self, statement: str) -> int:
        return int(self._do(statement).fetchone()[0])

    def _do(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._do("begin immediate")
        try:
            yield
            self._do("commit")
        except BaseException:
            if self._connection.in_transaction:
                self._do("rollback")
            raise

    @contextmanager
    def _one_sentence(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            name, reason = self.path.name, str(error)
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
                raise ValueError(f"{name} is no store of a sweep; use another file") from None
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                raise ValueError(
                    f"{name} is in use by another sweep; wait for it, or use another file"
                ) from None
            raise ValueError(f"{name} cannot be used as a store: {reason}") from None
