"""The store in one SQLite file: one process owns it, one connection writes, others only read."""

import json
import sqlite3
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection

from belated.service.store.checksums import checksum_of
from belated.service.store.errors import StoreUnavailable
from belated.service.store.file_lock import FileLock
from belated.service.store.foreign_rows import OwnedTransactions
from belated.service.store.queries import position_of
from belated.service.store.records import (
    Decision,
    NamedOutcome,
    Note,
    Outcome,
    Position,
    first_key,
)
from belated.service.store.schema import JOURNAL
from belated.service.store.sqlite_file import (
    Durability,
    NotAStore,
    driver_of,
    mention_old_library,
    prepare,
    reading_engine,
    writing_engine,
)
from belated.service.store.store import Store

INSERT_DECISION = """
insert into journal (seq, kind, problem, at, ticket, arm, round, probability, weights,
  state_version, key, digest, expires_at, expires_round, branch, cohort, context, actions, checksum)
values (?, 'decided', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (problem, key) where key is not null do nothing"""

OPEN_DECIDED = """
insert into open_tickets
select ticket, problem, arm, at, expires_at, expires_round,
  case when arm is not null then 1 else (select count(*) from json_each(weights)) end
from journal where seq >= ?"""

INSERT_OUTCOME = """
insert into journal (seq, kind, problem, at, ticket, arm, loss, missing, raw, checksum)
select ?, ?, problem, ?, ticket, ?, ?, ?, ?, ? from open_tickets as waiting
where ticket = ? and {arm}
on conflict (ticket, arm) where kind <> 'decided' do nothing"""

OF_A_BANDIT = INSERT_OUTCOME.format(arm="arm = ?")
OF_AN_EXPERT = INSERT_OUTCOME.format(
    arm="""arm is null and exists (
  select 1 from journal, json_each(journal.weights) as weight
  where journal.kind = 'decided' and journal.ticket = waiting.ticket and weight.key = ?)"""
)

ANSWER_EXPERTS = """
update open_tickets set awaiting = awaiting - (
  select count(*) from journal where seq >= ? and journal.ticket = open_tickets.ticket)
where arm is null and ticket in (select ticket from journal where seq >= ?)"""

CLOSE_ANSWERED = """
delete from open_tickets where ticket in (select ticket from journal where seq >= ?)
  and (arm is not null or awaiting <= 0)"""

TALLY = """
insert into tallies (problem, arm, kind, slot, count)
select problem, coalesce(arm, ''), kind, 0, count(*) from journal where seq >= ? group by 1, 2, 3
on conflict do update set count = count + excluded.count"""

INSERT_NOTE = """
insert into journal (seq, kind, problem, at, payload, checksum)
values ((select coalesce(max(seq), 0) + 1 from journal), ?, ?, ?, ?, ?)"""


INSERT_NAMED = """
insert into journal (seq, kind, problem, at, ticket, outcome, revision, raw, checksum)
select (select coalesce(max(seq), 0) + 1 from journal), 'named', problem, ?, ticket, ?, ?, ?, ?
from open_tickets where ticket = ?
on conflict (ticket, outcome, revision) where outcome is not null do nothing"""


class SqliteStore(Store):
    """A store in a file that this process owns; without a path it is in memory only."""

    one_owner = True
    _order = (JOURNAL.c.seq,)

    def __init__(self, path: Path | None, durability: Durability = "full") -> None:
        path = path and path.resolve()  # a symbolic link must not lead to a second lock
        self._lock = None if path is None else FileLock(path)
        self._retaining = threading.Lock()
        writer = writing_engine(path, durability)
        # A database in memory has one connection, which readers and the writer share in turn.
        reader = writer if path is None else reading_engine(path)
        self._owned = OwnedTransactions(writer, reader)
        super().__init__(self._owned)
        try:
            self._prepare(path)
        except BaseException:
            self.close()
            raise
        mention_old_library()

    @property
    def library(self) -> str:
        """The version of SQLite."""
        return f"SQLite {sqlite3.sqlite_version}"

    def close(self) -> None:
        """Close all connections, then release the file."""
        super().close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _prepare(self, path: Path | None) -> None:
        name = "memory" if path is None else path.name
        try:
            self._transactions.write(prepare)
            self._owned.watch(path)
        except NotAStore as error:
            raise ValueError(f"{name} {error}") from None
        except StoreUnavailable as error:
            code = getattr(
                getattr(error.__cause__, "orig", error.__cause__), "sqlite_errorcode", None
            )
            if code == sqlite3.SQLITE_NOTADB:
                raise ValueError(f"{name} is not a database") from None
            raise

    @property
    def saw_foreign_rows(self) -> bool:
        """Whether a write has found rows of somebody else."""
        return self._owned.saw_foreign_rows

    def problems_with_foreign_rows(self) -> set[str]:
        """The problems into which somebody else has written since the last call."""
        return self._owned.problems_with_foreign_rows()

    def known_end(self) -> Position:
        """The position of the last row that this process has written, or was told of."""
        return position_of(0, self._owned.end)

    def _after(self, turn: int, seq: int) -> Sequence[ColumnElement[bool]]:
        return [JOURNAL.c.seq > seq]

    _settled_after = _after

    def _until(self, turn: int, seq: int) -> Sequence[ColumnElement[bool]]:
        return [JOURNAL.c.seq <= seq]

    def _insert(
        self,
        connection: Connection,
        decisions: Sequence[Decision],
        outcomes: Sequence[Outcome],
    ) -> tuple[Collection[int], Collection[int]]:
        driver = driver_of(connection)
        (first,) = driver.execute("select coalesce(max(seq), 0) + 1 from journal").fetchone()
        placed = place_decisions(driver, decisions, first)
        counted = count_outcomes(driver, outcomes, first + len(decisions))
        if placed or counted:
            driver.execute(TALLY, (first,))
        return placed, counted

    def _insert_named(self, connection: Connection, outcome: NamedOutcome) -> bool:
        ticket, name, revision, reward, at = outcome
        row = (at, name, revision, reward, checksum_of(outcome), ticket)
        return driver_of(connection).execute(INSERT_NAMED, row).rowcount == 1

    def _insert_notes(self, connection: Connection, notes: Sequence[Note]) -> None:
        rows = [
            (note.kind, note.problem, note.at, json.dumps(note.payload), checksum_of(note))
            for note in notes
        ]
        driver_of(connection).executemany(INSERT_NOTE, rows)

    def _hold_off(self, connection: Connection) -> None:
        """Return at once: this store has only one writer."""

    @contextmanager
    def retaining(self) -> Iterator[bool]:
        """While this lasts no other thread retains; other processes cannot open the file."""
        alone = self._retaining.acquire(blocking=False)
        try:
            yield alone
        finally:
            if alone:
                self._retaining.release()

    def _wait_for_turn(self, connection: Connection, problem: str) -> None:
        """Return at once: this store has only one writer."""


def place_decisions(
    driver: sqlite3.Connection, decisions: Sequence[Decision], first: int
) -> Collection[int]:
    """Insert the decisions with new keys, numbered from `first`; returns their indices."""
    if not decisions:
        return ()
    rows = [decision_row(first + index, each) for index, each in enumerate(decisions)]
    placed: Collection[int] = range(len(rows))
    if not all_inserted(driver, INSERT_DECISION, rows):
        placed = without_orphans(driver, decisions, first)
    driver.execute(OPEN_DECIDED, (first,))
    return placed


def without_orphans(
    driver: sqlite3.Connection, decisions: Sequence[Decision], first: int
) -> set[int]:
    """Delete the new decisions of requests whose first one was not new; the indices of the rest."""
    placed = inserted_since(driver, first)
    new = {(decisions[index].problem, decisions[index].key) for index in placed}
    orphans = {
        index
        for index in placed
        if (key := decisions[index].key) is not None
        and (decisions[index].problem, first_key(key)) not in new
    }
    rows = [(first + index,) for index in orphans]
    driver.executemany("delete from journal where seq = ?", rows)
    return placed - orphans


def count_outcomes(
    driver: sqlite3.Connection, outcomes: Sequence[Outcome], first: int
) -> Collection[int]:
    """Insert the outcomes that are the first of an open ticket's arm; returns their indices."""
    if not outcomes:
        return ()
    rows = [outcome_row(first + index, each) for index, each in enumerate(outcomes)]
    counted: Collection[int] = range(len(rows))
    if not all_inserted(driver, OF_A_BANDIT, rows):
        counted = inserted_since(driver, first)
        others = [row for index, row in enumerate(rows) if index not in counted]
        driver.executemany(OF_AN_EXPERT, others)
        driver.execute(ANSWER_EXPERTS, (first, first))
        counted = inserted_since(driver, first)
    driver.execute(CLOSE_ANSWERED, (first,))
    return counted


def decision_row(seq: int, decision: Decision) -> tuple[Any, ...]:
    """The values of a decision in the order of INSERT_DECISION."""
    (
        ticket, problem, round_, arm, probability, weights, version, at, key, digest, until,
        until_round, branch, cohort, context, actions,
    ) = decision  # fmt: skip
    shares = None if weights is None else json.dumps(weights)
    return (
        seq, problem, at, ticket, arm, round_, probability, shares, version, key, digest, until,
        until_round, branch, cohort, context, actions, checksum_of(decision),
    )  # fmt: skip


def outcome_row(seq: int, outcome: Outcome) -> tuple[Any, ...]:
    """The values of an outcome in the order of INSERT_OUTCOME."""
    ticket, arm, kind, loss, at, missing, raw = outcome
    return seq, kind, at, arm, loss, missing, raw, checksum_of(outcome), ticket, arm


def all_inserted(driver: sqlite3.Connection, statement: str, rows: list[tuple[Any, ...]]) -> bool:
    """Insert rows; returns whether none of them existed already."""
    return driver.executemany(statement, rows).rowcount == len(rows)


def inserted_since(driver: sqlite3.Connection, first: int) -> set[int]:
    """The journal numbers from `first` on that exist, counted from `first`."""
    taken = driver.execute("select seq from journal where seq >= ?", (first,))
    return {seq - first for (seq,) in taken}
