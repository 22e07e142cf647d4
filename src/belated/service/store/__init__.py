"""The store of the decision service: an append-only journal, in SQLite or PostgreSQL.

The journal is the truth. A learner's state is the fold of its problem's events in the one
canonical order that `tail` gives; snapshots are a cache of that fold and may be lost.
"""

from belated.service.store.errors import StoreInUse, StoreUnavailable
from belated.service.store.opening import open_store
from belated.service.store.records import (
    START,
    Appended,
    Counts,
    Decision,
    DecisionAnswer,
    Event,
    Key,
    Note,
    OpenTicket,
    Outcome,
    OutcomeAnswer,
    Position,
    Problem,
    Snapshot,
    TicketRecord,
)
from belated.service.store.store import PAGE, Store

__all__ = [
    "PAGE",
    "START",
    "Appended",
    "Counts",
    "Decision",
    "DecisionAnswer",
    "Event",
    "Key",
    "Note",
    "OpenTicket",
    "Outcome",
    "OutcomeAnswer",
    "Position",
    "Problem",
    "Snapshot",
    "Store",
    "StoreInUse",
    "StoreUnavailable",
    "TicketRecord",
    "open_store",
]
