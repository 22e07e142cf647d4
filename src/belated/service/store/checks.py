"""Checks of records before they are written: bad input is refused before a transaction begins."""

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
    """Refuse decisions with neither an arm nor weights, or with a number that is not finite."""
    for decision in decisions:
        if decision.arm is None and not decision.weights:
            raise ValueError(f"decision {decision.ticket!r} has neither an arm nor weights")
        # 0 times a finite number is 0; 0 times infinity or NaN is NaN. One sum checks all numbers.
        zero = 0 * decision.at + 0 * (decision.probability or 0) + 0 * (decision.expires_at or 0)
        shares = decision.weights.values() if decision.weights else ()
        if zero != 0 or not all(map(math.isfinite, shares)):
            raise ValueError(f"decision {decision.ticket!r} has a number that is not finite")


def check_outcomes(outcomes: Sequence[Outcome]) -> None:
    """Refuse outcomes of an unknown kind, or with a number that is not finite."""
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
    """Refuse notes of a kind that the store reserves for its own events."""
    for note in notes:
        if note.kind in RESERVED:
            raise ValueError(f"{note.kind!r} is not a kind of note; the store keeps it for itself")
