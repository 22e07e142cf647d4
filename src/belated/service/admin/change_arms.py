"""Other arms for a problem that is in use: written into its journal, one change after the other.

Several workers may be asked at once. Each checks what is wanted against the arms that it knows, and
writes only if it knew all changes; so the changes in the journal always fit one another.
"""

from collections.abc import Sequence

from belated.service.core.arms import ARMS, Lineup
from belated.service.core.errors import Conflict, Unavailable
from belated.service.core.problems import served
from belated.service.core.replica import ARCHIVED
from belated.service.core.replicas import Replicas
from belated.service.store import Note, Problem, Store

Names = Sequence[str]


def rearm(
    store: Store, replicas: Replicas, name: str, add: Names, remove: Names, now: float
) -> tuple[str, ...]:
    """Change the arms of a problem with whoever sits at its desk; returns those it has then."""
    if not store.one_owner:
        replicas.catch_up()
    replica = replicas.named(name)
    if replica.status == ARCHIVED:
        raise archived(name)
    lineup = replica.lineup
    change = lineup.checked(name, replica.learner, add, remove)
    if change is None:
        return lineup.arms
    note = Note(name, ARMS, change, now)
    record(store, note, lineup)
    if store.one_owner:
        replica.fold(note)
        replicas.unsaved += 1
    else:
        replicas.catch_up()
    return lineup.after(change).arms


def rearm_at_rest(
    store: Store, problem: Problem, status: str, add: Names, remove: Names, now: float
) -> None:
    """The same for whoever holds the store."""
    if status == ARCHIVED:
        raise archived(problem.name)
    lineup = Lineup.of(problem.spec["arms"], store.notes(problem.name))
    change = lineup.checked(problem.name, served(problem).learner, add, remove)
    if change is not None:
        record(store, Note(problem.name, ARMS, change, now), lineup)


def record(store: Store, note: Note, known: Lineup) -> None:
    """Write a change, unless there are others that were not known."""
    if not store.record_in_turn(note, known.changes):
        raise Unavailable(
            f"the arms of {note.problem!r} were changed by somebody else just now; look at them, "
            "and send it again"
        )


def archived(name: str) -> Conflict:
    """No change of a problem that is over."""
    return Conflict(f"problem {name!r} is archived, which is for good; create a new one")
