"""The reading queries: rows as records, each function within the caller's transaction."""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Double,
    Text,
    case,
    func,
    literal_column,
    select,
)

from belated.service.store.checks import is_storable
from belated.service.store.records import (
    DECIDED,
    NAMED,
    OUTCOME_KINDS,
    START,
    Body,
    DamagedTicket,
    Decision,
    Event,
    NamedOutcome,
    Note,
    Outcome,
    Position,
    ProblemRecord,
    Tallies,
    TicketRecord,
    Unreadable,
)
from belated.service.store.schema import FACTS, JOURNAL, OPEN_TICKETS, PROBLEMS, TALLIES

COLUMNS = JOURNAL.c
# Literals, not parameters: only then can the planner use the partial indexes of the journal.
IS_DECISION = COLUMNS.kind == literal_column(f"'{DECIDED}'")
IS_NO_DECISION = COLUMNS.kind != literal_column(f"'{DECIDED}'")
DIGITS = 16
MOST_NOTES = 20  # of a piece of time
RETENTION = "retention"  # the fact that says how far the journal was folded into checkpoints
REACHED = select(FACTS.c.value).where(FACTS.c.name == RETENTION).scalar_subquery()


def position_of(turn: int, seq: int) -> Position:
    """A place in the journal as text of fixed length, which sorts as the pair of numbers does."""
    return f"{turn:0{DIGITS}x}-{seq:0{DIGITS}x}"


def place_of(position: Position) -> tuple[int, int]:
    """The pair (turn, seq) of a position; ValueError if the text is not a position."""
    if position == START:
        return 0, 0
    turn, dash, seq = position.partition("-")
    try:
        if not (dash and len(turn) == len(seq) == DIGITS):
            raise ValueError
        return int(turn, 16), int(seq, 16)
    except ValueError:
        raise ValueError(f"{position!r} is no position of the journal") from None


def event_of(row: Sequence[Any], turn: int) -> Event:
    """A row of the journal as an event."""
    seq, problem = row[1], row[3] if is_text(row[3]) else repr(row[3])
    body: Body | Unreadable
    try:
        body = body_of(row)
    except (ValueError, TypeError) as error:
        body = Unreadable(f"row {seq} of the journal cannot be read: {error}")
    return Event(position_of(turn, seq), problem, body, row[-1])


def body_of(row: Sequence[Any]) -> Body:
    """What a row of the journal says; ValueError or TypeError if it cannot be read."""
    check_values(row)
    (
        _, _, kind, problem, at, ticket, arm, round_, probability, weights, version, key,
        digest, expires_at, expires_round, loss, missing, raw, payload, branch,
        cohort, outcome, revision, context, actions, _,
    ) = row  # fmt: skip
    if kind == DECIDED:
        if ticket is None or round_ is None or version is None:
            raise ValueError("a decision has a ticket, a round and a version")
        shares = None if weights is None else shares_in(weights)
        return Decision(
            ticket, problem, round_, arm, probability, shares, version, at, key, digest,
            expires_at, expires_round, branch, cohort, context, actions,
        )  # fmt: skip
    if kind == NAMED:
        if None in (ticket, outcome, revision, raw):
            raise ValueError("a named outcome has a ticket, a name, a revision and a reward")
        return NamedOutcome(ticket, outcome, revision, raw, at)
    if ticket is not None:
        if arm is None:
            raise ValueError("an outcome has an arm")
        return Outcome(ticket, arm, kind, loss, at, missing, raw)
    return Note(problem, kind, object_in(payload), at)


def check_values(row: Sequence[Any]) -> None:
    """Refuse values that their columns should not hold; SQLite would hold any in any column."""
    for place, (name, fits) in enumerate(FORMS):
        value = row[place]
        if value is not None and not fits(value):
            raise ValueError(f"its {name} is {value!r}")


def is_text(value: Any) -> bool:
    """Whether a value is text that can be stored and shown."""
    return isinstance(value, str) and is_storable(value)


def is_number(value: Any) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, float | int) and math.isfinite(value)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number."""
    return isinstance(value, int)


BY_TYPE = {Text: is_text, Double: is_number, BigInteger: is_whole}
FORMS = [(column.name, BY_TYPE[type(column.type)]) for column in JOURNAL.columns]


def object_in(text: str) -> dict[str, Any]:
    """The JSON object in a text; ValueError or TypeError if it holds none."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"{text!r} is no JSON object")
    return found


def shares_in(text: str) -> dict[str, float]:
    """The weights in a text; ValueError or TypeError if they are no finite numbers."""
    found: dict[str, float] = object_in(text)
    if not all(map(math.isfinite, found.values())):
        raise ValueError("its weights are not finite")
    return found


def events(
    connection: Connection,
    conditions: Iterable[ColumnElement[bool]],
    order: Iterable[ColumnElement[Any]],
    limit: int | None = None,
) -> list[Event]:
    """The events that meet the conditions, in the given order."""
    found = select(JOURNAL).where(*conditions).order_by(*order).limit(limit)
    return events_in(connection, connection.execute(found).all())


def events_in(connection: Connection, rows: Iterable[Sequence[Any]]) -> list[Event]:
    """Rows of the journal, and whatever else is in them, as events."""
    width = len(JOURNAL.columns)
    if connection.dialect.name == "sqlite":  # there the number alone is the order
        return [event_of(row[:width], 0) for row in rows]
    return [event_of(row[:width], row[0]) for row in rows]


def events_to_follow(
    connection: Connection,
    conditions: Iterable[ColumnElement[bool]],
    order: Iterable[ColumnElement[Any]],
    limit: int,
) -> tuple[list[Event], str | None]:
    """Events, and the fact that says whether some before them are deleted, as of one moment."""
    found = select(JOURNAL, REACHED).where(*conditions).order_by(*order).limit(limit)
    rows = connection.execute(found).all()
    return events_in(connection, rows), rows[0][-1] if rows else None


def decisions_by_key(
    connection: Connection, keys: Collection[tuple[str, str]]
) -> dict[tuple[str, str | None], Decision]:
    """The decisions made under these pairs (problem, idempotency key); one query per problem.

    Given a list of pairs, SQLite would scan all keys.
    """
    by_problem: dict[str, list[str]] = {}
    for problem, key in keys:
        by_problem.setdefault(problem, []).append(key)
    found: dict[tuple[str, str | None], Decision] = {}
    for problem, those in by_problem.items():
        where = [COLUMNS.key.is_not(None), COLUMNS.problem == problem, COLUMNS.key.in_(those)]
        for event in events(connection, where, []):
            if isinstance(event.body, Decision):
                found[problem, event.body.key] = event.body
    return found


def outcomes_of(
    connection: Connection, tickets: Collection[str]
) -> dict[str, list[Outcome | NamedOutcome]]:
    """The outcomes of these tickets so far, named or not, oldest first."""
    where = [IS_NO_DECISION, COLUMNS.ticket.in_(tickets)]
    found: dict[str, list[Outcome | NamedOutcome]] = {}
    for event in events(connection, where, [COLUMNS.turn, COLUMNS.seq]):
        if isinstance(event.body, Outcome | NamedOutcome):
            found.setdefault(event.body.ticket, []).append(event.body)
    return found


def records_of(connection: Connection, decided: Iterable[Event]) -> list[TicketRecord]:
    """Decisions joined with their outcomes."""
    decisions = [event.body for event in decided if isinstance(event.body, Decision)]
    outcomes = outcomes_of(connection, [decision.ticket for decision in decisions])
    found = []
    for decision in decisions:
        those = outcomes.get(decision.ticket, ())
        closing = tuple(each for each in those if isinstance(each, Outcome))
        named = tuple(each for each in those if isinstance(each, NamedOutcome))
        found.append(TicketRecord(decision, closing, named))
    return found


def still_open(connection: Connection, tickets: Collection[str]) -> set[str]:
    """Those of these tickets that are open; no one else closes them before this transaction ends.

    A transaction that waits here for another one sees afterwards what that has written.
    """
    columns = OPEN_TICKETS.c
    found = select(columns.ticket).where(columns.ticket.in_(tickets)).order_by(columns.ticket)
    return set(connection.scalars(found.with_for_update()))


def named_counts(connection: Connection, tickets: Collection[str]) -> dict[str, int]:
    """How many named outcomes these tickets have; those without any are left out."""
    found = select(COLUMNS.ticket, func.count()).where(
        COLUMNS.outcome.is_not(None), COLUMNS.ticket.in_(tickets)
    )
    return {ticket: int(n) for ticket, n in connection.execute(found.group_by(COLUMNS.ticket))}


def tickets(connection: Connection, ids: Collection[str]) -> dict[str, TicketRecord]:
    """The decisions and outcomes of these tickets; unknown tickets are left out."""
    where = [IS_DECISION, COLUMNS.ticket.in_(ids)]
    records = records_of(connection, events(connection, where, []))
    return {record.decision.ticket: record for record in records}


def damaged_tickets(connection: Connection, ids: Collection[str]) -> dict[str, DamagedTicket]:
    """Those of these tickets whose decision cannot be read."""
    found = select(JOURNAL).where(IS_DECISION, COLUMNS.ticket.in_(ids))
    rows = [(row.ticket, event_of(row, 0)) for row in connection.execute(found)]
    return {
        ticket: DamagedTicket(event.problem, event.body.reason)
        for ticket, event in rows
        if isinstance(event.body, Unreadable)
    }


def decided_twice(connection: Connection, limit: int) -> list[tuple[str, str]]:
    """Some pairs (problem, ticket) of which there is more than one decision."""
    repeated = select(func.min(COLUMNS.problem), COLUMNS.ticket).where(IS_DECISION)
    repeated = repeated.group_by(COLUMNS.ticket).having(func.count() > 1).limit(limit)
    return [(problem, ticket) for problem, ticket in connection.execute(repeated)]


def overdue(
    connection: Connection, now: float, limit: int, but: Collection[str]
) -> list[TicketRecord]:
    """The open tickets whose time has come, the longest overdue first, but for some problems."""
    until, those = OPEN_TICKETS.c.expires_at, OPEN_TICKETS.c.problem.not_in(but)
    found = select(OPEN_TICKETS.c.ticket).where(until <= now, those).order_by(until).limit(limit)
    records = tickets(connection, list(connection.scalars(found)))
    return sorted(records.values(), key=lambda record: record.decision.expires_at or 0.0)


def problems(connection: Connection, name: str | None = None) -> list[ProblemRecord]:
    """All problems in the order of their creation, or only the one of this name."""
    found = select(PROBLEMS).order_by(PROBLEMS.c.at, PROBLEMS.c.name)
    found = found.where(PROBLEMS.c.deleted_at.is_(None))
    if name is not None:
        found = found.where(PROBLEMS.c.name == name)
    return [problem_of(*row) for row in connection.execute(found)]


def problem_of(name: str, spec: str, at: float, generation: int, _: object) -> ProblemRecord:
    """A row of the table of problems as a record."""
    try:
        return ProblemRecord(name, object_in(spec), at, None, generation)
    except (ValueError, TypeError) as error:
        reason = f"its specification cannot be read: {error}"
        return ProblemRecord(name, {}, at, reason, generation)


def being_deleted(connection: Connection) -> list[str]:
    """The problems that are deleted, but whose rows are not yet."""
    found = select(PROBLEMS.c.name).where(PROBLEMS.c.deleted_at.is_not(None))
    return sorted(connection.scalars(found))


def generations(connection: Connection, names: Collection[str]) -> dict[str, int]:
    """The generations of those of these problems that exist."""
    found = select(PROBLEMS.c.name, PROBLEMS.c.generation).where(
        PROBLEMS.c.name.in_(names), PROBLEMS.c.deleted_at.is_(None)
    )
    return {row.name: row.generation for row in connection.execute(found)}


def count_notes(connection: Connection, problem: str, kind: str) -> int:
    """How many notes of a kind a problem has."""
    where = [COLUMNS.problem == problem, COLUMNS.ticket.is_(None), COLUMNS.kind == kind]
    return int(connection.scalar(select(func.count()).select_from(JOURNAL).where(*where)) or 0)


def notes(connection: Connection, problem: str) -> list[Note]:
    """The notes of a problem, oldest first."""
    where = [COLUMNS.problem == problem, COLUMNS.ticket.is_(None)]
    found = events(connection, where, [COLUMNS.turn, COLUMNS.seq])
    return [event.body for event in found if isinstance(event.body, Note)]


def notes_of_ticket(connection: Connection, problem: str, kind: str, ticket: str) -> list[Note]:
    """The notes of one kind about a ticket, oldest first; reads all notes of its problem."""
    where = [COLUMNS.problem == problem, COLUMNS.ticket.is_(None), COLUMNS.kind == kind]
    where.append(COLUMNS.payload.contains(ticket, autoescape=True))
    found = events(connection, where, [COLUMNS.turn, COLUMNS.seq])
    notes = [event.body for event in found if isinstance(event.body, Note)]
    return [note for note in notes if note.payload.get("ticket") == ticket]


def notes_after(connection: Connection, after: Sequence[ColumnElement[bool]]) -> list[Note]:
    """The notes of all problems after a place in the journal, in its order, settled or not."""
    where = [*after, COLUMNS.ticket.is_(None)]
    found = events(connection, where, [COLUMNS.turn, COLUMNS.seq])
    return [event.body for event in found if isinstance(event.body, Note)]


def counts(connection: Connection, problem: str) -> Tallies:
    """The tallies of a problem, summed over the slots of the connections that keep them."""
    by_arm: dict[str | None, dict[str, int]] = {}
    arm, kind = TALLIES.c.arm, TALLIES.c.kind
    total = func.sum(TALLIES.c.count)
    found = select(arm, kind, total).where(TALLIES.c.problem == problem).group_by(arm, kind)
    for name, what, number in connection.execute(found):
        by_arm.setdefault(name or None, {})[what] = int(number)
    return Tallies(by_arm)


def all_counts(connection: Connection) -> dict[tuple[str, str], int]:
    """The tallies of all problems by (problem, kind), summed over arms and slots."""
    problem, kind = TALLIES.c.problem, TALLIES.c.kind
    found = select(problem, kind, func.sum(TALLIES.c.count)).group_by(problem, kind)
    return {(name, what): int(number) for name, what, number in connection.execute(found)}


def oldest(connection: Connection, problem: str) -> dict[str | None, float]:
    """When the oldest open ticket of each arm was decided."""
    columns = OPEN_TICKETS.c
    found = (
        select(columns.arm, func.min(columns.at))
        .where(columns.problem == problem)
        .group_by(columns.arm)
    )
    return {arm: float(at) for arm, at in connection.execute(found)}


def ages(
    connection: Connection, problem: str, edges: Sequence[float]
) -> dict[str | None, list[int]]:
    """The number of open tickets by arm and time of decision; n edges make n + 1 intervals."""
    columns = OPEN_TICKETS.c
    placed = select(columns.arm, interval_among(edges, 0).label("interval"))
    each = placed.where(columns.problem == problem).subquery().c
    counted = select(each.arm, each.interval, func.count()).group_by(each.arm, each.interval)
    by_arm: dict[str | None, list[int]] = {}
    for arm, place, number in connection.execute(counted):
        by_arm.setdefault(arm, [0] * (len(edges) + 1))[place] = int(number)
    return by_arm


def interval_among(edges: Sequence[float], first: int) -> ColumnElement[int]:
    """The number of the interval in which a ticket was decided; a few comparisons find it."""
    if not edges:
        return literal_column(str(first), BigInteger)
    middle = len(edges) // 2
    later = interval_among(edges[middle + 1 :], first + middle + 1)
    return case(
        (OPEN_TICKETS.c.at >= edges[middle], later), else_=interval_among(edges[:middle], first)
    )


class Happened(NamedTuple):
    """The number of outcomes and the sum of their losses by (kind, arm), and some notes.

    If `complete` is false, only the first of the rows were read.
    """

    outcomes: Mapping[tuple[str, str], tuple[int, float]]
    notes: list[Note]
    complete: bool


def happened(
    connection: Connection,
    order: ColumnElement[Any],
    problem: str,
    when: tuple[float, float],
    kinds: Sequence[str],
    limit: int,
) -> Happened:
    """What happened to a problem from a time to another; `order` numbers the journal's rows.

    The journal has no index by time. But its rows are almost in the order of their times, so those
    of a piece of time are found by bisection. A few of them too many or too few make no difference
    to a sum that is shown. Whatever the size of the journal, at most `limit` rows are read.
    """
    begin, end = (place_at(connection, order, at) for at in when)
    columns = (COLUMNS.problem, COLUMNS.kind, COLUMNS.arm, COLUMNS.loss)
    rows = select(*columns).where(order >= begin, order < end).order_by(order).limit(limit)
    each = rows.subquery()
    sums = select(each.c.kind, each.c.arm, func.count(), func.sum(each.c.loss))
    sums = sums.where(each.c.problem == problem, each.c.kind.in_(OUTCOME_KINDS))
    outcomes = {
        (kind, arm): (int(number), float(total or 0.0))
        for kind, arm, number, total in connection.execute(sums.group_by(each.c.kind, each.c.arm))
    }
    read = connection.scalar(select(func.count()).select_from(each)) or 0
    return Happened(outcomes, notes_between(connection, problem, when, kinds), read < limit)


def place_at(connection: Connection, order: ColumnElement[Any], at: float) -> int:
    """The place in the journal's order where the rows of a time begin, by bisection."""
    low, last = (connection.scalar(select(end(order))) for end in (func.min, func.max))
    if low is None or last is None:
        return 0
    high = int(last) + 1  # each end by itself: both at once would be looked for in all rows
    while low < high:
        middle = (low + high) // 2
        after = select(order, COLUMNS.at).where(order >= middle).order_by(order).limit(1)
        row = connection.execute(after).first()
        if row is None or row[1] >= at:
            high = middle
        else:
            low = int(row[0]) + 1
    return int(low)


def notes_between(
    connection: Connection, problem: str, when: tuple[float, float], kinds: Sequence[str]
) -> list[Note]:
    """The first notes of these kinds about a problem from a time to another."""
    where = [COLUMNS.problem == problem, COLUMNS.ticket.is_(None), COLUMNS.kind.in_(kinds)]
    where += [COLUMNS.at >= when[0], COLUMNS.at < when[1]]
    found = events(connection, where, [COLUMNS.turn, COLUMNS.seq], MOST_NOTES)
    return [event.body for event in found if isinstance(event.body, Note)]
