"""The store, whatever the database: one interface over one journal."""

import functools
import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, ClassVar, Self

from sqlalchemy import ColumnElement, Connection, insert

from belated.service.store import queries as reading
from belated.service.store.append_results import decision_answers, outcome_answers
from belated.service.store.checks import check_decisions, check_notes, check_outcomes
from belated.service.store.code_version import DecidingCode
from belated.service.store.keys import Keys
from belated.service.store.migrations import schema_version
from belated.service.store.records import (
    CREATED,
    START,
    Appended,
    Counts,
    Decision,
    Event,
    Note,
    OpenTicket,
    Outcome,
    Position,
    Problem,
    TicketRecord,
)
from belated.service.store.schema import JOURNAL, OPEN_TICKETS, PROBLEMS
from belated.service.store.snapshots import Snapshots
from belated.service.store.transactions import Transactions

PAGE = 1000


class Store(ABC):
    """A journal of decisions and outcomes, and what is derived from it in the same transaction.

    The store reads no clock: times are the caller's, in seconds since the epoch. Every method
    may be called from any thread; those that write wait for one another.
    """

    one_owner: ClassVar[bool]  # whether nobody else can write meanwhile

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._known: set[str] = set()
        self.code = DecidingCode(transactions)
        self.keys = Keys(transactions)
        self.snapshots = Snapshots(transactions)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._transactions.dispose()

    @property
    @abstractmethod
    def library(self) -> str:
        """The database and its version."""

    @property
    def schema_version(self) -> int:
        """The version of its tables."""
        return self._transactions.read(schema_version)

    # Writing

    def create_problem(self, name: str, spec: Mapping[str, Any], at: float) -> Problem:
        """A new problem; its name must be new, too."""
        row = {"name": name, "spec": json.dumps(spec), "at": at}
        created = Note(name, CREATED, spec, at)

        def create(connection: Connection) -> None:
            if reading.problems(connection, name):
                raise ValueError(f"there is a problem {name!r} already; names are unique")
            connection.execute(insert(PROBLEMS), row)
            self._insert_notes(connection, [created])

        self._transactions.write(create)
        return Problem(name, spec, at)

    def record(self, problem: str, kind: str, payload: Mapping[str, Any], at: float) -> None:
        """Something happened to a problem."""
        self.append((), (), [Note(problem, kind, payload, at)])

    def record_in_turn(self, note: Note, before: int) -> bool:
        """Write a note if so many of its kind and problem are there; returns whether it was.

        Whoever writes such notes waits for the one before, and comes after it in the journal.
        """
        check_notes([note])

        def write(connection: Connection) -> bool:
            self._wait_for_turn(connection, note.problem)
            if reading.count_notes(connection, note.problem, note.kind) != before:
                return False
            self._insert_notes(connection, [note])
            return True

        return self._transactions.write(write)

    def append(
        self,
        decisions: Sequence[Decision],
        outcomes: Sequence[Outcome],
        notes: Sequence[Note] = (),
    ) -> Appended:
        """Write all of this in one transaction, durable when it returns.

        A decision whose key its problem has seen is not written, and the earlier one answers for
        it. An outcome of a ticket's arm that has one is not written, and the earlier one stands.
        In the journal an outcome follows its decision; else the order in a batch is the store's.
        An error means that nothing is written: ValueError if a record is not valid or a ticket is
        used twice, StoreUnavailable (which see) if the store cannot do it now.
        """
        check_decisions(decisions)
        check_outcomes(outcomes)
        check_notes(notes)
        named = {each.problem for each in decisions} | {each.problem for each in notes}

        def write(connection: Connection) -> Appended:
            self._check_known(connection, named - self._known)
            placed, counted = self._insert(connection, decisions, outcomes)
            if notes:
                self._insert_notes(connection, notes)
            return Appended(
                decision_answers(connection, decisions, placed),
                outcome_answers(connection, outcomes, counted),
            )

        appended = self._transactions.write(write)
        self._known |= named
        return appended

    def _check_known(self, connection: Connection, names: Collection[str]) -> None:
        for name in names:
            if not reading.problems(connection, name):
                raise ValueError(f"there is no problem {name!r}")

    @abstractmethod
    def _insert(
        self,
        connection: Connection,
        decisions: Sequence[Decision],
        outcomes: Sequence[Outcome],
    ) -> tuple[Collection[int], Collection[int]]:
        """Insert what is new; returns the indices of the decisions and outcomes that were."""

    @abstractmethod
    def _insert_notes(self, connection: Connection, notes: Sequence[Note]) -> None: ...

    @abstractmethod
    def _wait_for_turn(self, connection: Connection, problem: str) -> None:
        """Be the only one who writes in turn about a problem, until this transaction ends."""

    # Reading

    def problems(self) -> list[Problem]:
        """All problems, oldest first."""
        return self._transactions.read(reading.problems)

    def problem(self, name: str) -> Problem | None:
        """The problem of this name."""
        found = self._transactions.read(lambda connection: reading.problems(connection, name))
        return found[0] if found else None

    def notes(self, problem: str) -> list[Note]:
        """What happened to a problem, oldest first."""
        return self._transactions.read(lambda connection: reading.notes(connection, problem))

    def notes_after(self, position: Position) -> list[Note]:
        """What happened to problems after a position, of all that is committed.

        Unlike what `tail` gives this is not settled: others may still come in between.
        """
        after = self._after(*reading.place_of(position))
        return self._transactions.read(lambda connection: reading.notes_after(connection, after))

    def tail(
        self, position: Position = START, limit: int = PAGE, problem: str | None = None
    ) -> tuple[list[Event], Position]:
        """The next events after a position in the canonical order, and the position after them.

        All who read the journal in this way see the same events in the same order, whatever is
        being written meanwhile; what is not settled yet comes later. `problem` leaves out the
        events of the others.
        """
        return self._page(position, limit, problem, [])

    def ticket(self, id: str) -> TicketRecord | None:
        """What was decided and every outcome so far."""
        return self.tickets([id]).get(id)

    def tickets(self, ids: Collection[str]) -> dict[str, TicketRecord]:
        """The same of many tickets at once; those never handed out are left out."""
        return self._transactions.read(lambda connection: reading.tickets(connection, ids))

    def decided_under(
        self, keys: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str | None], Decision]:
        """The decisions that were made under these (problem, idempotency key)."""
        return self._transactions.read(
            lambda connection: reading.decisions_by_key(connection, keys)
        )

    def end(self) -> Position:
        """The position of the last event that `tail` would give."""
        latest = [column.desc() for column in self._order]
        found = self._transactions.read(
            lambda connection: reading.events(connection, self._settled_after(0, 0), latest, 1)
        )
        return found[0].position if found else START

    def due(self, now: float, limit: int = PAGE) -> list[OpenTicket]:
        """Open tickets that expire at `now` or before, the longest due first."""
        until = OPEN_TICKETS.c.expires_at
        return self._transactions.read(
            lambda connection: reading.due(connection, until <= now, until, limit)
        )

    def due_by_round(self, problem: str, round: int, limit: int = PAGE) -> list[OpenTicket]:
        """Open tickets of a problem that expire in this round or before, the longest due first."""
        until = OPEN_TICKETS.c.expires_round
        where = (OPEN_TICKETS.c.problem == problem) & (until <= round)
        return self._transactions.read(
            lambda connection: reading.due(connection, where, until, limit)
        )

    def counts(self, problem: str) -> Counts:
        """How many decisions and outcomes of each kind there are, by arm; kept, not counted."""
        return self._transactions.read(lambda connection: reading.counts(connection, problem))

    def ages(self, problem: str, edges: Sequence[float]) -> dict[str | None, list[int]]:
        """How many tickets are open, by arm and by time of decision between the rising `edges`.

        n edges make n + 1 intervals, the oldest first. The cost grows with the open tickets.
        """
        return self._transactions.read(lambda connection: reading.ages(connection, problem, edges))

    def oldest(self, problem: str) -> dict[str | None, float]:
        """When the oldest open ticket of each arm was decided."""
        return self._transactions.read(lambda connection: reading.oldest(connection, problem))

    def export(self, problem: str) -> Iterator[TicketRecord]:
        """All decisions of a problem with their outcomes, in canonical order, a page at a time."""
        position = START
        while True:
            decided, after = self._page(position, PAGE, problem, [reading.IS_DECISION])
            if not decided:
                return
            yield from self._transactions.read(
                functools.partial(reading.records_of, decided=decided)
            )
            position = after

    def _page(
        self,
        position: Position,
        limit: int,
        problem: str | None,
        conditions: list[ColumnElement[bool]],
    ) -> tuple[list[Event], Position]:
        turn, seq = reading.place_of(position)
        conditions = [*self._settled_after(turn, seq), *conditions]
        if problem is not None:
            conditions.append(JOURNAL.c.problem == problem)
        found = self._transactions.read(
            lambda connection: reading.events(connection, conditions, self._order, limit)
        )
        return found, found[-1].position if found else position

    _order: Sequence[ColumnElement[Any]]

    @abstractmethod
    def _after(self, turn: int, seq: int) -> Sequence[ColumnElement[bool]]:
        """What comes after a place."""

    @abstractmethod
    def _settled_after(self, turn: int, seq: int) -> Sequence[ColumnElement[bool]]:
        """What comes after a place and has nothing under way before it."""
