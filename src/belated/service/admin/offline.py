"""Problems in a store that no service is running on, as the command line manages them."""

from collections.abc import Mapping, Sequence
from typing import Any

from belated.service.admin.change_arms import change_arms_offline
from belated.service.admin.change_terms import change_terms_offline
from belated.service.core.arms import ArmHistory
from belated.service.core.errors import NotFoundError
from belated.service.core.problems import checked_spec
from belated.service.core.status import ARCHIVED, is_status_change, status_after
from belated.service.core.terms import spec_after
from belated.service.core.texts import PROBLEM_NAME
from belated.service.store import ProblemRecord, Store


def create(store: Store, name: str, given: Mapping[str, Any], at: float) -> dict[str, Any]:
    """Create a problem; returns its outline."""
    made = store.create_problem(PROBLEM_NAME.checked(name), checked_spec(given), at)
    return outline(store, made)


def outlines(store: Store, archived: bool) -> list[dict[str, Any]]:
    """The outlines of all problems; of archived ones only if they are wanted."""
    found = [outline(store, problem) for problem in store.problems()]
    return [each for each in found if archived or each["status"] != ARCHIVED]


def outline(store: Store, problem: ProblemRecord) -> dict[str, Any]:
    """All that can be shown of a problem without folding its journal."""
    tallies = store.counts(problem.name)
    numbers = {kind: tallies.of(kind) for kind in ("decided", "told", "expired", "cancelled")}
    notes = store.notes(problem.name)
    if problem.fault:
        unknown = {"learner": "", "arms": [], "fault": problem.fault, "created": problem.at}
        return {"name": problem.name, "status": "broken", **unknown} | numbers
    arms = ArmHistory.of(problem.spec["arms"], notes).arms
    spec = {**spec_after(problem.spec, notes), "arms": list(arms)}
    status = status_after(notes)
    return {"name": problem.name, "status": status, **spec, "created": problem.at} | numbers


def named(store: Store, name: str) -> ProblemRecord:
    """The record of a problem; NotFoundError if there is none of this name."""
    problem = store.problem(name)
    if problem is None:
        raise NotFoundError(f"there is no problem {name!r}")
    return problem


def set_status(store: Store, name: str, kind: str, at: float) -> dict[str, Any]:
    """Pause, resume or archive a problem; returns its outline."""
    problem = named(store, name)
    if is_status_change(name, status_after(store.notes(name)), kind):
        store.record(name, kind, {}, at)
    return outline(store, problem)


def change_arms(
    store: Store, name: str, add: Sequence[str], remove: Sequence[str], at: float
) -> dict[str, Any]:
    """Add arms to a problem, and remove others; returns its outline."""
    problem = named(store, name)
    change_arms_offline(store, problem, add, remove, at)
    return outline(store, problem)


def change_terms(store: Store, name: str, given: Mapping[str, Any], at: float) -> dict[str, Any]:
    """Change when tickets of a problem expire, and with what; returns its outline."""
    problem = named(store, name)
    change_terms_offline(store, problem, given, at)
    return outline(store, problem)
