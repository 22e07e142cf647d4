"""Problems seen to without a desk: by whoever holds the store, as the command line does."""

from collections.abc import Mapping, Sequence
from typing import Any

from belated.service.admin.change_arms import rearm_at_rest
from belated.service.core.arms import Lineup
from belated.service.core.errors import Conflict, Unknown
from belated.service.core.problems import checked_name, checked_spec
from belated.service.core.replica import ACTIVE, ARCHIVED, STATUS_AFTER
from belated.service.store import Note, Problem, Store


def create(store: Store, name: str, given: Mapping[str, Any], at: float) -> dict[str, Any]:
    """A new problem."""
    return outline(store, store.create_problem(checked_name(name), checked_spec(given), at))


def outlines(store: Store, archived: bool) -> list[dict[str, Any]]:
    """All problems; those that are archived only if asked for."""
    found = [outline(store, problem) for problem in store.problems()]
    return [each for each in found if archived or each["status"] != ARCHIVED]


def outline(store: Store, problem: Problem) -> dict[str, Any]:
    """A problem, as far as it can be seen without folding its journal."""
    counts = store.counts(problem.name)
    numbers = {kind: counts.of(kind) for kind in ("decided", "told", "expired", "cancelled")}
    notes = store.notes(problem.name)
    spec = {**problem.spec, "arms": list(Lineup.of(problem.spec["arms"], notes).arms)}
    status = status_after(notes)
    return {"name": problem.name, "status": status, **spec, "created": problem.at} | numbers


def named(store: Store, name: str) -> Problem:
    """The problem of this name."""
    problem = store.problem(name)
    if problem is None:
        raise Unknown(f"there is no problem {name!r}")
    return problem


def status_after(notes: Sequence[Note]) -> str:
    """The status that its notes leave a problem in."""
    changes = [note.kind for note in notes if note.kind in STATUS_AFTER]
    return STATUS_AFTER[changes[-1]] if changes else ACTIVE


def change(store: Store, name: str, kind: str, at: float) -> dict[str, Any]:
    """Pause, resume or archive a problem."""
    problem = named(store, name)
    if is_change(name, status_after(store.notes(name)), kind):
        store.record(name, kind, {}, at)
    return outline(store, problem)


def change_arms(
    store: Store, name: str, add: Sequence[str], remove: Sequence[str], at: float
) -> dict[str, Any]:
    """Add arms to a problem, and remove others."""
    problem = named(store, name)
    rearm_at_rest(store, problem, status_after(store.notes(name)), add, remove, at)
    return outline(store, problem)


def is_change(name: str, status: str, kind: str) -> bool:
    """Whether this would change the status; refused if it cannot be changed any more."""
    if status == ARCHIVED and STATUS_AFTER[kind] != ARCHIVED:
        raise Conflict(f"problem {name!r} is archived, which is for good; create a new one")
    return status != STATUS_AFTER[kind]
