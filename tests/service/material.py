"""Decisions and outcomes to store."""

from typing import Any

from sqlalchemy import Row, select

from belated.service.store import START, Decision, Event, Outcome, Store
from belated.service.store.schema import OPEN_TICKETS

LAST = "7" + "f" * 15 + "-7" + "f" * 15  # a position after all others


def decision(ticket: str, **changes: Any) -> Decision:
    """A bandit's decision for the red arm."""
    plain = Decision(ticket, "ads", 1, "red", 0.25, None, "v1", 10.0)
    return plain._replace(**changes)


def experts(ticket: str, *arms: str, **changes: Any) -> Decision:
    """A decision that waits for an outcome of each arm."""
    weights = {arm: 1.0 / len(arms) for arm in arms}
    return decision(ticket, arm=None, probability=None, weights=weights, **changes)


def told(ticket: str, loss: float | None = 0.5, arm: str = "red", **changes: Any) -> Outcome:
    """An outcome that was reported."""
    return Outcome(ticket, arm, "told", loss, 20.0)._replace(**changes)


def expired(ticket: str, loss: float = 1.0, arm: str = "red") -> Outcome:
    """An outcome that did not come in time."""
    return Outcome(ticket, arm, "expired", loss, 30.0)


def whole_journal(store: Store, limit: int = 1000) -> list[Event]:
    """All events, read page by page."""
    events: list[Event] = []
    position = START
    while True:
        page, position = store.tail(position, limit)
        if not page:
            return events
        events += page


def open_tickets(store: Store) -> list[Row[Any]]:
    """The rows of the table of open tickets."""
    found = select(OPEN_TICKETS).order_by(OPEN_TICKETS.c.ticket)
    return list(store._transactions.read(lambda connection: connection.execute(found).all()))


def whole_kept(store: Store) -> list[Event]:
    """All events that are in the journal, also those before its checkpoints."""
    events: list[Event] = []
    position = START
    while page := store.kept_before(position, LAST):
        events += page
        position = page[-1].position
    return events
