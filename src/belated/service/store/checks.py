"""Checks of records before they are written: bad input is refused before a transaction begins."""

import math
from collections.abc import Sequence

from belated.service.store.records import (
    CREATED,
    DECIDED,
    DELETED,
    NAMED,
    OUTCOME_KINDS,
    Decision,
    NamedOutcome,
    Note,
    Outcome,
)

RESERVED = (DECIDED, CREATED, DELETED, NAMED, *OUTCOME_KINDS)


def is_storable(text: str) -> bool:
    """Whether every store can hold a text: UTF-8 can express it, and it has no NUL character."""
    if "\0" in text:
        return False
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:  # half of a surrogate pair
        return False


def check_text(what: str, *texts: str | None) -> None:
    """Refuse texts that a store cannot hold."""
    for text in texts:
        if text is not None and not is_storable(text):
            raise ValueError(
                f"{what} has the text {text!r}, which cannot be stored; it must be Unicode "
                "without NUL characters"
            )


def check_decisions(decisions: Sequence[Decision]) -> None:
    """Refuse decisions with neither an arm nor weights, or with a bad number or text."""
    for decision in decisions:
        written = (decision.ticket, decision.problem, decision.arm, decision.state_version)
        check_text("a decision", *written, decision.key, decision.digest, decision.context)
        check_text("a decision", decision.actions)
        if decision.arm is None and not decision.weights:
            raise ValueError(f"decision {decision.ticket!r} has neither an arm nor weights")
        # 0 times a finite number is 0; 0 times infinity or NaN is NaN. One sum checks all numbers.
        zero = 0 * decision.at + 0 * (decision.probability or 0) + 0 * (decision.expires_at or 0)
        shares = decision.weights.values() if decision.weights else ()
        if zero != 0 or not all(map(math.isfinite, shares)):
            raise ValueError(f"decision {decision.ticket!r} has a number that is not finite")
        check_text("a decision", *(decision.weights or ()))


def check_outcomes(outcomes: Sequence[Outcome]) -> None:
    """Refuse outcomes of an unknown kind, or with a bad number or text."""
    for outcome in outcomes:
        check_text("an outcome", outcome.ticket, outcome.arm)
        if outcome.kind not in OUTCOME_KINDS:
            raise ValueError(
                f"the outcome of ticket {outcome.ticket!r} is {outcome.kind!r}; "
                f"it must be one of {', '.join(OUTCOME_KINDS)}"
            )
        if 0 * outcome.at + 0 * (outcome.loss or 0) + 0 * (outcome.raw or 0) != 0:
            raise ValueError(
                f"the outcome of ticket {outcome.ticket!r} has a number that is not finite"
            )


def check_named(outcomes: Sequence[NamedOutcome]) -> None:
    """Refuse named outcomes with a bad number or text."""
    for outcome in outcomes:
        check_text("an outcome", outcome.ticket, outcome.name)
        if 0 * outcome.at + 0 * outcome.reward != 0:
            raise ValueError(
                f"{outcome.name!r} of ticket {outcome.ticket!r} has a number that is not finite"
            )


def check_notes(notes: Sequence[Note]) -> None:
    """Refuse notes with a bad text, or of a kind that the store reserves for its own events."""
    for note in notes:
        check_text("a note", note.problem, note.kind)
        if note.kind in RESERVED:
            raise ValueError(f"{note.kind!r} is not a kind of note; the store keeps it for itself")
