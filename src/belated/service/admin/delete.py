"""Deleting a problem: for good, with all its rows, after which its name is free.

Only an archived problem can be deleted, so that one word too many does not do it. From that moment
no one can write about it, not even a worker that was stopped before and does not know of it: each
transaction checks the generation of its problems. The rows are deleted afterwards, a few at a time.
"""

from belated.service.core.errors import NotFoundError, StateConflictError
from belated.service.core.replicas import Replicas
from belated.service.core.status import ARCHIVED, status_after
from belated.service.store import Store
from belated.service.upkeep.retention import Pause, no_pause, sweep_deleted


def delete(store: Store, name: str, now: float) -> None:
    """Delete a problem that is archived; its rows are still there."""
    problem = store.problem(name)
    if problem is None:
        raise NotFoundError(f"there is no problem {name!r}")
    status = status_after(store.notes(name))
    if status != ARCHIVED:
        raise StateConflictError(
            f"problem {name!r} is {status}; archive it first, then it can be deleted"
        )
    if not store.delete_problem(name, problem.generation, now):
        raise NotFoundError(f"there is no problem {name!r}")


def delete_served(store: Store, replicas: Replicas, name: str, now: float) -> None:
    """Delete a problem on the commit thread."""
    delete(store, name, now)
    replicas.drop(name)


def delete_offline(store: Store, name: str, now: float, pause: Pause = no_pause) -> int:
    """Delete a problem and its rows; returns how many rows. Its name is then free."""
    delete(store, name, now)
    return sum(sweep_deleted(store, pause))
