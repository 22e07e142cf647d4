"""Deleting rows of the journal that nothing needs any more, and blanking what may be personal.

A row before the checkpoints is superfluous if it is of a ticket that was closed there, or of a
report that came late. A ticket that was open is still open, or has an outcome after the
checkpoints: its rows stay, as do the notes about problems. A problem that could not be folded has
no checkpoint at that position, and keeps all its rows.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    delete,
    exists,
    literal,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)

from belated.service.store.checksums import checksum_of
from belated.service.store.queries import IS_DECISION, events, place_of, position_of
from belated.service.store.records import DECIDED, DELETED, LATE, Decision, Position
from belated.service.store.schema import CHECKPOINTS, JOURNAL, OPEN_TICKETS, PROBLEMS, TALLIES

ROWS = JOURNAL.c
Rows = Sequence[ColumnElement[bool]]  # conditions on rows of the journal


def is_superfluous(position: Position) -> ColumnElement[bool]:
    """Whether a row, which lies before checkpoints at this position, is superfluous."""
    later = JOURNAL.alias("later").c
    closed_later = exists().where(
        later.ticket == ROWS.ticket,
        later.kind != literal_column(f"'{DECIDED}'"),
        tuple_(later.turn, later.seq) > tuple_(*map(literal, place_of(position))),
    )
    is_open = exists().where(OPEN_TICKETS.c.ticket == ROWS.ticket)
    is_folded = exists().where(
        CHECKPOINTS.c.problem == ROWS.problem, CHECKPOINTS.c.position == position
    )
    of_closed = and_(ROWS.ticket.is_not(None), ~is_open, ~closed_later)
    return and_(or_(of_closed, ROWS.kind == LATE), is_folded)


def is_of(problem: str) -> ColumnElement[bool]:
    """Whether a row is of a problem that is being deleted; the note that says so stays."""
    return and_(ROWS.problem == problem, ROWS.kind != DELETED)


def delete_open_tickets(connection: Connection, problem: str, rows: Rows) -> None:
    """Delete the open tickets of a problem among some rows of the journal."""
    among = select(ROWS.ticket).where(*rows, is_of(problem), ROWS.ticket.is_not(None))
    connection.execute(delete(OPEN_TICKETS).where(OPEN_TICKETS.c.ticket.in_(among)))


def forget_name(connection: Connection, problem: str) -> None:
    """Delete what is left of a problem when its rows are deleted; its name is then free."""
    connection.execute(delete(TALLIES).where(TALLIES.c.problem == problem))
    connection.execute(delete(PROBLEMS).where(PROBLEMS.c.name == problem))


def next_rows(
    connection: Connection,
    after: Rows,
    order: Sequence[ColumnElement[Any]],
    limit: int,
) -> Position | None:
    """The position of the last of the next rows; None if there are none."""
    places = select(ROWS.turn, ROWS.seq).where(*after).order_by(*order).limit(limit)
    found = connection.execute(places).all()
    if not found:
        return None
    turn, seq = found[-1]
    return position_of(0 if connection.dialect.name == "sqlite" else turn, seq)


def blank(connection: Connection, contexts: bool, *rows: ColumnElement[bool]) -> int:
    """Blank the keys of the decisions among these rows, and the contexts if these are meant.

    The digest of a request is made of its context, too, and could tell which of a few it was: it is
    blanked with the context. A row gets a new checksum, if the one it had was right. Returns how
    many rows were changed.
    """
    gone: dict[str, Any] = (
        {"key": None, "context": None, "actions": None, "digest": None}
        if contexts
        else {"key": None}
    )
    has_any = or_(*(ROWS[name].is_not(None) for name in gone))
    found = events(connection, [*rows, IS_DECISION, has_any], [])
    if found and connection.dialect.name == "sqlite":
        connection.exec_driver_sql("pragma secure_delete = on")  # overwrite what is freed
    for event in found:
        body, checksum = event.body, event.checksum
        if isinstance(body, Decision) and checksum == checksum_of(body):
            checksum = checksum_of(body._replace(**gone))
        turn, seq = place_of(event.position)
        row = update(JOURNAL).where(ROWS.turn == turn, ROWS.seq == seq)
        connection.execute(row.values(**gone, checksum=checksum))
    return len(found)
