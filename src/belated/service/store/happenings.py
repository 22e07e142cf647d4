"""What happened to a problem in a piece of time, summed by the database.

The journal has no index by time. But its rows are almost in the order of their times, so the rows
of a piece of time are found by bisection of the journal's order. A few of them too many or too few
make no difference to a sum that is shown. Whatever the size of the journal, at most `limit` rows
are read.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, func, select

from belated.service.store.queries import COLUMNS, events
from belated.service.store.records import OUTCOME_KINDS, Note

MOST_NOTES = 20


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
    """What happened to a problem from a time to another; `order` numbers the journal's rows."""
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
    low, last = connection.execute(select(func.min(order), func.max(order))).one()
    if last is None:
        return 0
    high = int(last) + 1
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
