"""`Store`: one interface over one journal, and all that does not depend on the database."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, ClassVar, Self

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

import belated.service.store.queries as queries
from belated.service.store.append_results import (
    decision_results,
    named_results,
    outcome_results,
)
from belated.service.store.checkpoints import (
    Checkpoints,
    check_not_behind,
    positions,
    reached,
    save,
    set_reached,
)
from belated.service.store.checks import (
    check_decisions,
    check_named,
    check_notes,
    check_outcomes,
    check_text,
    is_storable,
)
from belated.service.store.code_version import DecidingCode
from belated.service.store.errors import ProblemGone
from belated.service.store.keys import ApiKeys
from belated.service.store.migrations import schema_version
from belated.service.store.probe import Probe
from belated.service.store.records import (
    DELETED,
    GENERATION,
    START,
    Appended,
    Checkpoint,
    DamagedTicket,
    Decision,
    Event,
    Lag,
    NamedOutcome,
    NamedOutcomes,
    NamedResult,
    Note,
    Outcome,
    OutcomeResult,
    Position,
    ProblemRecord,
    Retention,
    Tallies,
    TicketRecord,
    created_note,
)
from belated.service.store.schema import CHECKPOINTS, JOURNAL, PROBLEMS, SNAPSHOTS
from belated.service.store.snapshots import Snapshots
from belated.service.store.sweeping import (
    blank,
    delete_open_tickets,
    forget_name,
    is_of,
    is_superfluous,
    next_rows,
)
from belated.service.store.transactions import Transactions

PAGE = 1000
RETENTION = queries.RETENTION

NOTHING_NAMED = NamedOutcomes()
MoreNotes = Callable[[Sequence[OutcomeResult]], Sequence[Note]]


def no_notes(results: Sequence[OutcomeResult]) -> Sequence[Note]:
    """No notes, whatever became of the outcomes."""
    return ()


def overtaken(connection: Connection, named: NamedOutcomes) -> set[str]:
    """The tickets that have other named outcomes than those that closing them would rest on.

    All tickets are locked in one order, so that no two transactions wait for each other.
    """
    if not named.rests_on:
        return set()
    tickets = {*named.rests_on, *(each.ticket for each in named.records)}
    queries.still_open(connection, tickets)
    counts = queries.named_counts(connection, named.rests_on)
    return {ticket for ticket, n in named.rests_on.items() if counts.get(ticket, 0) != n}


def unknown_among(named: Mapping[str, int | None], known: Mapping[str, int]) -> list[str]:
    """Those problems that are not known, or not of the generation that is given."""
    return [
        name
        for name, generation in named.items()
        if name not in known or generation not in (None, known[name])
    ]


class Store(ABC):
    """A journal of decisions and outcomes, with tables derived from it in the same transaction.

    The store reads no clock: the caller gives all times, in seconds since the epoch. Every method
    may be called from any thread; writes wait for one another.
    """

    one_owner: ClassVar[bool]  # whether this process is the only one that writes

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._known: dict[str, int] = {}  # generations of problems
        self._known_after = ""  # so many deletions
        self.code = DecidingCode(transactions)
        self.keys = ApiKeys(transactions)
        self.probe = Probe(transactions)
        self.checkpoints = Checkpoints(transactions)
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
        """The version of the schema."""
        return self._transactions.read(schema_version)

    # Writing

    def create_problem(self, name: str, spec: Mapping[str, Any], at: float) -> ProblemRecord:
        """Create a problem; ValueError if there is one of this name."""
        check_text("a problem", name)
        row = {"name": name, "spec": json.dumps(spec), "at": at}

        def create(connection: Connection) -> ProblemRecord:
            if queries.problems(connection, name):
                raise ValueError(f"there is a problem {name!r} already; names are unique")
            if name in queries.being_deleted(connection):
                raise ValueError(f"problem {name!r} is being deleted; its name is free soon")
            generation = 1 + queries.count_notes(connection, name, DELETED)
            connection.execute(insert(PROBLEMS), {**row, "generation": generation})
            made = ProblemRecord(name, spec, at, None, generation)
            self._insert_notes(connection, [created_note(made)])
            return made

        return self._transactions.write(create)

    def record(self, problem: str, kind: str, payload: Mapping[str, Any], at: float) -> None:
        """Write a note about a problem."""
        self.append((), (), [Note(problem, kind, payload, at)])

    def record_in_turn(self, note: Note, before: int, generation: int | None = None) -> bool:
        """Write a note if its problem has `before` notes of its kind; returns whether it did.

        Writers of such notes wait for one another, so each note follows the ones it has counted.
        ProblemGone if the problem is not of this generation.
        """
        check_notes([note])

        def write(connection: Connection) -> bool:
            self._wait_for_turn(connection, note.problem)
            self._check_known(connection, {note.problem: generation})
            if queries.count_notes(connection, note.problem, note.kind) != before:
                return False
            self._insert_notes(connection, [note])
            return True

        return self._transactions.write(write)

    def append(
        self,
        decisions: Sequence[Decision],
        outcomes: Sequence[Outcome],
        notes: Sequence[Note] = (),
        more_notes: MoreNotes = no_notes,
        generations: Mapping[str, int] | None = None,
        named: NamedOutcomes = NOTHING_NAMED,
    ) -> Appended:
        """Append records to the journal in one transaction, which is durable when this returns.

        A decision under a key that its problem has used is not written; the earlier one stands. Nor
        are the others of its request, if that has asked for more than the earlier one. An outcome
        of a ticket's arm that has an outcome is not written; the earlier one stands. In the journal
        an outcome follows its decision; otherwise the store chooses the order. `more_notes` makes
        notes of what became of the outcomes, in the same transaction. `generations` has those of
        the problems that the writer knows. Named outcomes follow all others (see `NamedOutcomes`).
        An error means that nothing was written. It is ProblemGone if one of these is deleted,
        ValueError if a record is not valid or a ticket is used twice, StoreUnavailable (see there)
        if the store cannot write now.
        """
        check_decisions(decisions)
        check_outcomes(outcomes)
        check_named(named.records)
        check_notes(notes)
        about = {each.problem for each in decisions} | {each.problem for each in notes}
        known = dict.fromkeys(about) | dict(generations or {})

        def write(connection: Connection) -> Appended:
            self._check_known(connection, known)
            stale = overtaken(connection, named)
            kept = [place for place, each in enumerate(outcomes) if each.ticket not in stale]
            placed, inserted = self._insert(connection, decisions, [outcomes[n] for n in kept])
            counted = {kept[n] for n in inserted} if stale else inserted
            results = outcome_results(connection, outcomes, counted)
            told = self._insert_open(connection, named.records)
            if all_notes := [*notes, *more_notes(results)]:
                self._insert_notes(connection, all_notes)
            decided = decision_results(connection, decisions, placed)
            return Appended(decided, results, told)

        return self._transactions.write(write)

    def _insert_open(
        self, connection: Connection, named: Sequence[NamedOutcome]
    ) -> Sequence[NamedResult]:
        """Insert the named outcomes that are new and whose tickets are open."""
        if not named:
            return ()
        is_open = queries.still_open(connection, {each.ticket for each in named})
        written = set()
        for place, outcome in enumerate(named):
            if outcome.ticket in is_open and self._insert_named(connection, outcome):
                written.add(place)
        return named_results(connection, named, written)

    def _check_known(self, connection: Connection, known: Mapping[str, int | None]) -> None:
        """Refuse to write about problems that do not exist, or are of another generation.

        None of the others is deleted before this transaction has ended.
        """
        deletions = self._deletions(connection)
        if deletions != self._known_after:
            self._known, self._known_after = {}, deletions
        lacking = known.keys() - self._known.keys()
        self._known |= queries.generations(connection, lacking) if lacking else {}
        for name in unknown_among(known, self._known):
            raise ProblemGone(name)

    def _deletions(self, connection: Connection) -> str:
        """How many problems others have deleted so far; they delete none until this has ended."""
        return ""

    @abstractmethod
    def _hold_off(self, connection: Connection) -> None:
        """Wait for all transactions that write about problems; let others see a deletion first."""

    # Retention

    def retain(
        self,
        checkpoints: Sequence[Checkpoint],
        retention: Retention,
        before: Position,
        notes: Sequence[Note],
        generations: Mapping[str, int],
    ) -> bool:
        """Let checkpoints take the place of the journal before them; whether that was done.

        It is not done if there are others than those up to `before`, from which these were made;
        ProblemGone if a problem is deleted. What has become superfluous is deleted by `sweep`.
        """

        def write(connection: Connection) -> bool:
            self._wait_for_turn(connection, RETENTION)
            if reached(connection).position != before:
                return False
            self._check_known(connection, generations)
            save(connection, checkpoints)
            set_reached(connection, retention._replace(swept=False))
            self._insert_notes(connection, notes)
            return True

        return self._transactions.write(write)

    def sweep(self, position: Position, limit: int) -> tuple[int, Position | None]:
        """Delete what checkpoints have made superfluous among the next rows after a position.

        Returns how many rows, and the position to go on from; None: all is done.
        """
        after = self._after(*queries.place_of(position))

        def write(connection: Connection) -> tuple[int, Position | None]:
            retention = reached(connection)
            if retention.swept:
                return 0, None
            before = [*after, *self._until(*queries.place_of(retention.position))]
            last = next_rows(connection, before, self._order, limit)
            if last is None:
                set_reached(connection, retention._replace(swept=True))
                return 0, None
            rows = [*after, *self._until(*queries.place_of(last))]
            doomed = delete(JOURNAL).where(*rows, is_superfluous(retention.position))
            return connection.execute(doomed).rowcount, last

        return self._transactions.write(write)

    # Forgetting

    def seal(self, checkpoint: Checkpoint, before: Position, note: Note, generation: int) -> bool:
        """Let a problem be folded from this checkpoint on; whether that was done.

        It is not done if the problem has another checkpoint than the one at `before`, from which
        this was made. All rows stay.
        """

        def write(connection: Connection) -> bool:
            self._wait_for_turn(connection, RETENTION)
            if positions(connection).get(checkpoint.problem, START) != before:
                return False
            self._check_known(connection, {checkpoint.problem: generation})
            save(connection, [checkpoint])
            self._insert_notes(connection, [note])
            return True

        return self._transactions.write(write)

    def forget_decision(self, problem: str, ticket: str, contexts: bool = False) -> int:
        """Blank the key of a decision, and its context if that is meant; how many had any.

        A context is blanked only before the problem's checkpoint: who folds the rest needs it.
        """
        row = [JOURNAL.c.problem == problem, JOURNAL.c.ticket == ticket]
        if contexts:
            sealed = self.checkpoints.positions().get(problem, START)
            row += self._until(*queries.place_of(sealed))
        return self._transactions.write(lambda connection: blank(connection, contexts, *row))

    def forget_decisions(
        self, problem: str, until: float, contexts: bool, position: Position, limit: int
    ) -> tuple[int, Position | None]:
        """Blank the keys of a problem's decisions up to a time among the next rows.

        If contexts are meant, they are blanked, too, and only before the problem's checkpoint.
        Returns how many had any, and the position to go on from; None: all is done.
        """
        after = self._after(*queries.place_of(position))
        meant = [JOURNAL.c.problem == problem, JOURNAL.c.at <= until]
        if contexts:
            sealed = self.checkpoints.positions().get(problem, START)
            meant += self._until(*queries.place_of(sealed))

        def write(connection: Connection) -> tuple[int, Position | None]:
            last = next_rows(connection, after, self._order, limit)
            if last is None:
                return 0, None
            rows = [*after, *self._until(*queries.place_of(last))]
            return blank(connection, contexts, *rows, *meant), last

        return self._transactions.write(write)

    # Deletion

    def delete_problem(self, name: str, generation: int, at: float) -> bool:
        """Delete a problem; whether there was one. Its name is free when its rows are deleted, too.

        Nothing can be written about it any more, even by those who think that it exists.
        """
        known = (PROBLEMS.c.name == name, PROBLEMS.c.generation == generation)
        standing = select(PROBLEMS.c.name).where(*known, PROBLEMS.c.deleted_at.is_(None))
        note = Note(name, DELETED, {GENERATION: generation}, at)

        def write(connection: Connection) -> bool:
            self._hold_off(connection)
            if connection.scalar(standing) is None:
                return False
            connection.execute(update(PROBLEMS).where(*known).values(deleted_at=at))
            for table in (SNAPSHOTS, CHECKPOINTS):
                connection.execute(delete(table).where(table.c.problem == name))
            self._insert_notes(connection, [note])
            return True

        done = self._transactions.write(write)
        self._known.pop(name, None)
        return done

    def being_deleted(self) -> list[str]:
        """The problems that are deleted, but whose rows are not yet."""
        return self._transactions.read(queries.being_deleted)

    def sweep_deleted(
        self, problem: str, position: Position, limit: int
    ) -> tuple[int, Position | None]:
        """Delete the rows of a problem that is deleted among the next rows after a position.

        Returns how many rows, and the position to go on from; None: all is done.
        """
        after = self._after(*queries.place_of(position))

        def write(connection: Connection) -> tuple[int, Position | None]:
            if problem not in queries.being_deleted(connection):
                return 0, None
            last = next_rows(connection, after, self._order, limit)
            if last is None:
                forget_name(connection, problem)
                return 0, None
            rows = [*after, *self._until(*queries.place_of(last))]
            delete_open_tickets(connection, problem, rows)
            doomed = delete(JOURNAL).where(*rows, is_of(problem))
            return connection.execute(doomed).rowcount, last

        return self._transactions.write(write)

    @abstractmethod
    def retaining(self) -> AbstractContextManager[bool]:
        """While this lasts no one else retains; False: somebody else does."""

    @abstractmethod
    def _insert(
        self,
        connection: Connection,
        decisions: Sequence[Decision],
        outcomes: Sequence[Outcome],
    ) -> tuple[Collection[int], Collection[int]]:
        """Insert the new records; returns the indices of the decisions and outcomes written."""

    @abstractmethod
    def _insert_named(self, connection: Connection, outcome: NamedOutcome) -> bool:
        """Insert a named outcome; whether it is new."""

    @abstractmethod
    def _insert_notes(self, connection: Connection, notes: Sequence[Note]) -> None: ...

    @abstractmethod
    def _wait_for_turn(self, connection: Connection, problem: str) -> None:
        """Wait until no other transaction writes in turn about a problem, and block the next."""

    # Reading

    def problems(self) -> list[ProblemRecord]:
        """All problems, oldest first."""
        return self._transactions.read(queries.problems)

    def problem(self, name: str) -> ProblemRecord | None:
        """The problem of this name; None if there is none."""
        if not is_storable(name):
            return None
        found = self._transactions.read(lambda connection: queries.problems(connection, name))
        return found[0] if found else None

    def notes(self, problem: str) -> list[Note]:
        """The notes of a problem, oldest first."""
        return self._transactions.read(lambda connection: queries.notes(connection, problem))

    def notes_of_ticket(self, problem: str, kind: str, ticket: str) -> list[Note]:
        """The notes of one kind about a ticket, oldest first."""
        return self._transactions.read(
            lambda connection: queries.notes_of_ticket(connection, problem, kind, ticket)
        )

    def notes_after(self, position: Position) -> list[Note]:
        """All committed notes after a position.

        Unlike the events of `tail` these are not settled: others may still appear before them.
        """
        after = self._after(*queries.place_of(position))
        return self._transactions.read(lambda connection: queries.notes_after(connection, after))

    def tail(
        self, position: Position = START, limit: int = PAGE, problem: str | None = None
    ) -> tuple[list[Event], Position]:
        """The next events after a position in the canonical order, and the position after them.

        All readers see the same events in the same order, whatever is written meanwhile; events
        that are not settled yet come later. `problem` selects the events of one problem; without it
        BehindCheckpoint is raised at a position before the checkpoints, since events are lacking.
        """
        turn, seq = queries.place_of(position)
        conditions = [*self._settled_after(turn, seq)]
        if problem is not None:
            conditions.append(JOURNAL.c.problem == problem)
        found, fact = self._transactions.read(
            lambda connection: queries.events_to_follow(connection, conditions, self._order, limit)
        )
        if problem is None:
            check_not_behind(position, fact)
        return found, found[-1].position if found else position

    def kept_before(self, position: Position, end: Position, limit: int = PAGE) -> list[Event]:
        """The next events after a position that are still in the journal, up to another one."""
        after, until = queries.place_of(position), queries.place_of(end)
        conditions = [*self._after(*after), *self._until(*until)]
        return self._transactions.read(
            lambda connection: queries.events(connection, conditions, self._order, limit)
        )

    def news(self, position: Position, limit: int) -> tuple[list[Event], list[Note]]:
        """The next events after a position as `tail` gives them, and all notes after these.

        BehindCheckpoint is raised as by `tail`.
        """
        events, reached = self.tail(position, limit)
        return events, self.notes_after(reached)

    def lag(self, position: Position, now: float) -> Lag:
        """How far a reader at a position is behind; with one owner no one else writes."""
        return Lag()

    def overdue(self, now: float, limit: int, but: Collection[str] = ()) -> list[TicketRecord]:
        """Open tickets past their time, the longest overdue first, settled or not.

        Those of the problems in `but` are left out.
        """
        return self._transactions.read(
            lambda connection: queries.overdue(connection, now, limit, but)
        )

    def ticket(self, id: str) -> TicketRecord | None:
        """A ticket's decision and its outcomes so far; None if the ticket is unknown."""
        return self.tickets([id]).get(id)

    def tickets(self, ids: Collection[str]) -> dict[str, TicketRecord]:
        """The decisions and outcomes of many tickets in one query; unknown tickets are left out."""
        texts = [id for id in ids if is_storable(id)]
        return self._transactions.read(lambda connection: queries.tickets(connection, texts))

    def damaged_tickets(self, ids: Collection[str]) -> dict[str, DamagedTicket]:
        """Those of these tickets that exist, and whose decision cannot be read."""
        texts = [id for id in ids if is_storable(id)]
        return self._transactions.read(lambda each: queries.damaged_tickets(each, texts))

    def decided_twice(self, limit: int) -> list[tuple[str, str]]:
        """Some pairs (problem, ticket) of which there is more than one decision: a fault."""
        return self._transactions.read(lambda connection: queries.decided_twice(connection, limit))

    def decided_under(
        self, keys: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str | None], Decision]:
        """The decisions that were made under these pairs (problem, idempotency key)."""
        texts = [pair for pair in keys if all(map(is_storable, pair))]
        return self._transactions.read(
            lambda connection: queries.decisions_by_key(connection, texts)
        )

    def end(self) -> Position:
        """The position of the last event that `tail` would give."""
        latest = [column.desc() for column in self._order]
        found = self._transactions.read(
            lambda connection: queries.events(connection, self._settled_after(0, 0), latest, 1)
        )
        return found[0].position if found else START

    @property
    def saw_foreign_rows(self) -> bool:
        """Whether a write has found rows of somebody else, where there is one owner."""
        return False

    def problems_with_foreign_rows(self) -> set[str]:
        """The problems into which somebody else has written, where there is one owner."""
        return set()

    def known_end(self) -> Position:
        """The position of the last event, without those of somebody else, if there is one owner."""
        return self.end()

    def counts(self, problem: str) -> Tallies:
        """The numbers of decisions and outcomes by arm and kind, read from the kept tallies."""
        return self._transactions.read(lambda connection: queries.counts(connection, problem))

    def all_counts(self) -> dict[tuple[str, str], int]:
        """The numbers of decisions and outcomes of all problems, by problem and kind."""
        return self._transactions.read(queries.all_counts)

    def ages(self, problem: str, edges: Sequence[float]) -> dict[str | None, list[int]]:
        """The numbers of open tickets by arm and by time of decision between the rising `edges`.

        n edges make n + 1 intervals, the oldest first. The cost grows with the open tickets.
        """
        return self._transactions.read(lambda connection: queries.ages(connection, problem, edges))

    def oldest(self, problem: str) -> dict[str | None, float]:
        """The time at which the oldest open ticket of each arm was decided."""
        return self._transactions.read(lambda connection: queries.oldest(connection, problem))

    def happened(
        self, problem: str, when: tuple[float, float], kinds: Sequence[str], limit: int
    ) -> queries.Happened:
        """What happened to a problem between two times, and its notes of these kinds.

        At most `limit` rows of the journal are read for it.
        """
        return self._transactions.read(
            lambda connection: queries.happened(
                connection, self._order[0], problem, when, kinds, limit
            )
        )

    _order: Sequence[ColumnElement[Any]]

    @abstractmethod
    def _after(self, turn: int, seq: int) -> Sequence[ColumnElement[bool]]:
        """The conditions on events after a place."""

    @abstractmethod
    def _until(self, turn: int, seq: int) -> Sequence[ColumnElement[bool]]:
        """The conditions on events up to a place."""

    @abstractmethod
    def _settled_after(self, turn: int, seq: int) -> Sequence[ColumnElement[bool]]:
        """The conditions on events after a place that no transaction in progress can precede."""
