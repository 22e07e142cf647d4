"""Notes about retention: closed tickets were folded into a checkpoint, and their rows deleted."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from belated.service.store import Note

RETAINED = "retained"  # the kind of note; its payload is a `retained_payload`


def retained_payload(until: float, tickets: int, code_version: str) -> dict[str, Any]:
    """What a note says: how many tickets are folded in all, until when, and by which code."""
    return {"until": until, "tickets": tickets, "code_version": code_version}


def is_retained_by_others(note: Note, code_version: str) -> bool:
    """Whether a note tells of a checkpoint that another version of the code has written."""
    return note.kind == RETAINED and note.payload.get("code_version") != code_version


def describe_retained(payload: Mapping[str, Any]) -> str:
    """A note as a short text."""
    return f"{payload['tickets']} tickets closed until {day_of(payload['until'])}"


def day_of(at: float) -> str:
    """A time as the day in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
