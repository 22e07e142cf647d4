"""The store of the decision service: an append-only journal, in SQLite or PostgreSQL.

The journal is the truth. The state of a learner is the fold of its problem's events in the one
canonical order that `Store.tail` gives; snapshots are a cache of that fold and may be lost. Where
the journal was shortened, the fold goes on from checkpoints, which are as much a truth.

Start here: `open_store` opens the store at an address, and `Store.append` is the one place where
decisions and outcomes become rows of the journal.

- `store`: `Store`, the interface, with all that does not depend on the database
- `sqlite`, `sqlite_file`, `file_lock`: a store in one file, which one process owns
- `foreign_rows`, `own_files`: notice what somebody else does to such a file
- `postgres`: a store in a PostgreSQL database, which any number of processes share; `appending` has
  the statements that write there
- `records`: what is written and read, as tuples (`Decision`, `Outcome`, `Note`, `Event`, ...)
- `checks`: refuses bad records before a transaction begins
- `checksums`: a checksum for each row of the journal
- `append_results`: what became of each record of an append
- `queries`: all reading queries
- `schema`, `migrations`: the tables, and the numbered steps that make them
- `transactions`: runs work in a transaction, and translates the errors of the database
- `keys`, `snapshots`, `code_version`: API keys, snapshots, and which version of the code decides
- `checkpoints`, `sweeping`: states that take the place of the journal before them, and the deletion
  of what they make superfluous, or of keys
- `probe`: a commit that changes nothing, to find out whether the store can commit
- `errors`: `StoreUnavailable`, `StoreInUse` and `ProblemGone`
"""

from pathlib import Path
from typing import get_args

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from belated.service.store.checkpoints import BehindCheckpoint
from belated.service.store.errors import ProblemGone, StoreInUse, StoreUnavailable
from belated.service.store.records import (
    START,
    ApiKey,
    Appended,
    Checkpoint,
    CheckpointSums,
    DamagedTicket,
    Decision,
    DecisionResult,
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
    Snapshot,
    Tallies,
    TicketRecord,
    Unreadable,
)
from belated.service.store.sqlite import SqliteStore
from belated.service.store.sqlite_file import Durability
from belated.service.store.store import PAGE, Store

__all__ = [
    "PAGE",
    "START",
    "ApiKey",
    "Appended",
    "BehindCheckpoint",
    "Checkpoint",
    "CheckpointSums",
    "DamagedTicket",
    "Decision",
    "DecisionResult",
    "Durability",
    "Event",
    "Lag",
    "NamedOutcome",
    "NamedOutcomes",
    "NamedResult",
    "Note",
    "Outcome",
    "OutcomeResult",
    "Position",
    "ProblemGone",
    "ProblemRecord",
    "Retention",
    "Snapshot",
    "Store",
    "StoreInUse",
    "StoreUnavailable",
    "Tallies",
    "TicketRecord",
    "Unreadable",
    "open_store",
]

MEMORY = "memory:"


def open_store(address: str | Path, durability: Durability = "full") -> Store:
    """Open the store at an address; it is created or migrated to the newest schema if necessary.

    An address is a file's path or `sqlite:///path`, or `postgresql://...`, or `memory:`.
    `durability="full"` keeps everything that was acknowledged even if the power fails. "normal" and
    "off" may then lose the last transactions; they still keep them if only the process is killed.
    """
    if durability not in get_args(Durability):
        raise ValueError(
            f"durability is {durability!r}; it must be one of {', '.join(get_args(Durability))}"
        )
    text = str(address)
    if text == MEMORY:
        return SqliteStore(None, durability)
    if "://" not in text:
        return SqliteStore(Path(text), durability)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise ValueError("the address of the store cannot be read as a URL") from None
    kind = url.get_backend_name()
    if kind == "sqlite" and url.database:
        return SqliteStore(Path(url.database), durability)
    if kind in ("postgresql", "postgres"):
        from belated.service.store.postgres import PostgresStore  # imports the driver

        return PostgresStore(url, durability)
    raise ValueError(
        f"a store cannot be at {kind}://; it must be a file, sqlite:///path or postgresql://..."
    )
