"""Forgetting what may be personal: the idempotency keys and event ids of decisions.

The state of a learner does not need them. A row that is blanked gets a new checksum; one that was
not as it was written keeps its old one, so that `verify` goes on to complain. Who repeats an ask
under a key that is forgotten gets a new decision, and a report by event id finds nothing; by its
ticket a decision can be told as before.
"""

import functools

from belated.service.core.errors import InvalidRequestError, NotFoundError
from belated.service.store import Store
from belated.service.upkeep.retention import Pause, no_pause, slices


def forget(
    store: Store,
    problem: str,
    ticket: str | None,
    older_than: float | None,
    now: float,
    pause: Pause = no_pause,
) -> int:
    """Blank the key of one decision of a problem, or of all that are older; how many there were."""
    if (ticket is None) == (older_than is None):
        raise InvalidRequestError("either a ticket or an age must be given, and not both")
    if store.problem(problem) is None:
        raise NotFoundError(f"there is no problem {problem!r}")
    if ticket is not None:
        record = store.ticket(ticket)
        if record is None or record.decision.problem != problem:
            raise NotFoundError(f"there is no ticket {ticket!r} of {problem!r}")
        return store.forget_key(problem, ticket)
    assert older_than is not None
    return sum(slices(functools.partial(store.forget_keys, problem, now - older_than), pause))
