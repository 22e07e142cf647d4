"""Deleting rows of the journal that nothing needs any more, a few at a time.

A row before the checkpoints is superfluous if it is of a ticket that was closed there, or of a
report that came late. A ticket that was open is still open, or has an outcome after the
checkpoints: its rows stay, as do the notes about problems. A problem that could not be folded has
no checkpoint at that position, and keeps all its rows.
"""

from collections.abc import Callable, Sequence
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
)

from belated.service.store.queries import place_of, position_of
from belated.service.store.records import DECIDED, LATE, Position
from belated.service.store.schema import CHECKPOINTS, JOURNAL, OPEN_TICKETS

ROWS = JOURNAL.c


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


def delete_some(
    connection: Connection,
    rows: Sequence[ColumnElement[bool]],
    order: Sequence[ColumnElement[Any]],
    until: Callable[[int, int], Sequence[ColumnElement[bool]]],
    end: Position,
    doomed: ColumnElement[bool],
    limit: int,
) -> tuple[int, Position | None]:
    """Delete what is doomed among the next rows; how many, and the position of the last looked at.

    The position is None if there were no rows.
    """
    places = (
        select(ROWS.turn, ROWS.seq)
        .where(*rows, *until(*place_of(end)))
        .order_by(*order)
        .limit(limit)
    )
    found = connection.execute(places).all()
    if not found:
        return 0, None
    turn, seq = found[-1]
    gone = connection.execute(delete(JOURNAL).where(*rows, *until(turn, seq), doomed)).rowcount
    return gone, position_of(turn, seq)
