"""What the store is given, checked before a transaction begins: one sentence on bad input."""

import math
from collections.abc import Sequence

from belated.service.store.records import (
    CREATED,
    DECIDED,
    OUTCOME_KINDS,
    Decision,
    Note,
    Outcome,
)

RESERVED = (DECIDED, CREATED, *OUTCOME_KINDS)


def check_decisions(decisions: Sequence[Decision]) -> None:
    """A decision names an arm or has weights; its numbers are finite."""
    for decision in decisions:
        if decision.arm is None and not decision.weights:
            raise ValueError(f"decision {decision.ticket!r} has neither an arm nor weights")
        # 0 times a finite number is 0, and times any other it is not
        zero = 0 * decision.at + 0 * (decision.probability or 0) + 0 * (decision.expires_at or 0)
        shares = decision.weights.values() if decision.weights else ()
        if zero != 0 or not all(map(math.isfinite, shares)):
            raise ValueError(f"decision {decision.ticket!r} has a number that is not finite")


def check_outcomes(outcomes: Sequence[Outcome]) -> None:
    """An outcome is of a known kind; its numbers are finite."""
    for outcome in outcomes:
        if outcome.kind not in OUTCOME_KINDS:
            raise ValueError(
                f"the outcome of ticket {outcome.ticket!r} is {outcome.kind!r}; "
                f"it must be one of {', '.join(OUTCOME_KINDS)}"
            )
        if 0 * outcome.at + 0 * (outcome.loss or 0) + 0 * (outcome.raw or 0) != 0:
            raise ValueError(
                f"the outcome of ticket {outcome.ticket!r} has a number that is not finite"
            )


def check_notes(notes: Sequence[Note]) -> None:
    """A note is not mistaken for what the store writes itself."""
    for note in notes:
        if note.kind in RESERVED:
            raise ValueError(f"{note.kind!r} is not a kind of note; the store keeps it for itself")
