"""Forgetting what may be personal: the idempotency keys, event ids and contexts of decisions.

The state of a learner does not need keys. It is folded from contexts, so a problem first gets a
checkpoint (`upkeep.sealing`), and only what lies before it is blanked. A row that is blanked gets a
new checksum; one that was not as it was written keeps its old one, so that `verify` goes on to
complain. Who repeats an ask under a key that is forgotten gets a new decision, and a report by
event id finds nothing; by its ticket a decision can be told as before.
"""

import functools
import time

from belated.service.core.errors import InvalidRequestError, NotFoundError, StateConflictError
from belated.service.store import Store, TicketRecord
from belated.service.upkeep.retention import Pause, no_pause, slices
from belated.service.upkeep.sealing import Commit, Seal, commit, seal

# Workers may not yet have folded what was decided in these seconds, and need its context for that.
FRESH = 60.0
PATIENCE = 30.0  # seconds to wait for a retention that is under way


def forget(
    store: Store,
    problem: str,
    ticket: str | None,
    older_than: float | None,
    now: float,
    pause: Pause = no_pause,
    contexts: bool = False,
    write: Commit | None = None,
) -> int:
    """Blank the key of one decision of a problem, or of all that are older; how many there were.

    If contexts are meant, they are blanked as well; `write` writes the checkpoint for that.
    """
    if (ticket is None) == (older_than is None):
        raise InvalidRequestError("either a ticket or an age must be given, and not both")
    if store.problem(problem) is None:
        raise NotFoundError(f"there is no problem {problem!r}")
    record = None if ticket is None else decided(store, problem, ticket)
    until = now - (older_than or 0.0)
    if not contexts:
        return blanked(store, problem, record, until, False, pause)
    if not store.one_owner:
        until = min(until, now - FRESH)
        if record is not None and record.decision.at > until:
            raise StateConflictError(
                f"ticket {ticket!r} is less than {FRESH:g} seconds old, and some worker may still "
                "need its context; forget it later"
            )
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        with store.retaining() as alone:
            if alone:
                seal(store, problem, now, pause, write or functools.partial(written, store))
                number = blanked(store, problem, record, until, True, pause)
                if ticket is not None and knows(decided(store, problem, ticket)):
                    raise StateConflictError(
                        f"ticket {ticket!r} is not settled yet, and workers still need its "
                        "context; forget it later"
                    )
                return number
        time.sleep(0.1)
    raise StateConflictError("somebody else writes checkpoints just now; try again later")


def decided(store: Store, problem: str, ticket: str) -> TicketRecord:
    """The record of a ticket of a problem."""
    record = store.ticket(ticket)
    if record is None or record.decision.problem != problem:
        raise NotFoundError(f"there is no ticket {ticket!r} of {problem!r}")
    return record


def knows(record: TicketRecord) -> bool:
    """Whether a context or features of arms are kept with a decision."""
    return record.decision.context is not None or record.decision.actions is not None


def blanked(
    store: Store,
    problem: str,
    record: TicketRecord | None,
    until: float,
    contexts: bool,
    pause: Pause,
) -> int:
    """Blank what one decision has, or all up to a time; how many had any."""
    if record is not None:
        return store.forget_decision(problem, record.decision.ticket, contexts)
    work = functools.partial(store.forget_decisions, problem, until, contexts)
    return sum(slices(work, pause))


def written(store: Store, seal: Seal) -> bool:
    """Write a seal where no service is running."""
    return commit(store, None, seal)
