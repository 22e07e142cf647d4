"""The status of a problem: active, paused or archived, and which changes are allowed.

The kind of a note says what happened ("resumed"); the status is what follows from it ("active").
"""

from collections.abc import Iterable

from belated.service.core.errors import StateConflictError
from belated.service.store import Note

ACTIVE, PAUSED, ARCHIVED = "active", "paused", "archived"
STATUS_AFTER = {"paused": PAUSED, "resumed": ACTIVE, "archived": ARCHIVED}


def status_after(notes: Iterable[Note]) -> str:
    """The status of a problem with these notes."""
    changes = [note.kind for note in notes if note.kind in STATUS_AFTER]
    return STATUS_AFTER[changes[-1]] if changes else ACTIVE


def is_status_change(name: str, status: str, kind: str) -> bool:
    """Whether a note of this kind would change the status; an error if that is not allowed."""
    if STATUS_AFTER[kind] != ARCHIVED:
        check_not_archived(name, status)
    return status != STATUS_AFTER[kind]


def check_not_archived(name: str, status: str) -> None:
    """Refuse to change a problem that is archived."""
    if status == ARCHIVED:
        raise StateConflictError(
            f"problem {name!r} is archived, which is for good; create a new one"
        )
