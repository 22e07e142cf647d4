"""Notes about retention: closed tickets were folded into a checkpoint, and their rows deleted."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from belated.service.store import Note, Position

RETAINED = "retained"  # the kind of note; its payload is a `retained_payload`
# The kind of note about a checkpoint whose rows stay, but for their contexts, which are blanked: it
# has the position of the checkpoint.
SEALED = "sealed"


def retained_payload(
    until: float, tickets: int, position: Position, code_version: str
) -> dict[str, Any]:
    """What a note says: how many tickets are folded in all, until when, and by which code."""
    return {
        "until": until, "tickets": tickets, "position": position, "code_version": code_version,
    }  # fmt: skip


def must_begin_again(note: Note, begun_at: Position, code_version: str) -> bool:
    """Whether a note tells of a checkpoint by other code, beyond the one the fold began from.

    Notes about earlier checkpoints lie behind the newest, since that is as old as what is retained.
    Where contexts were blanked, the fold may have read rows without them, whatever the code is.
    """
    if note.kind == SEALED:
        return bool(note.payload["position"] > begun_at)
    return (
        note.kind == RETAINED
        and note.payload["code_version"] != code_version
        and note.payload["position"] > begun_at
    )


def shown_retained(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A note as an object for users."""
    return {"tickets": payload["tickets"], "until": payload["until"]}


def describe_retained(payload: Mapping[str, Any]) -> str:
    """A note as a short text; ValueError if it has no number of tickets."""
    return f"{payload['tickets']:d} tickets closed until {day_of(payload['until'])}"


def day_of(at: float) -> str:
    """A time as the day in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
