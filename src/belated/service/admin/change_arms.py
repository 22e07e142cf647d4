"""Changes of a problem's arms: each is a note in the journal.

Several workers may be asked to change arms at once. Each checks the change against the arms that it
knows, and writes its note only if it knew all earlier changes; so the changes in the journal
always fit one another.
"""

from collections.abc import Sequence

from belated.service.core.arms import ARMS, ArmHistory
from belated.service.core.errors import UnavailableError
from belated.service.core.problems import served
from belated.service.core.replicas import Replicas
from belated.service.core.status import check_not_archived, status_after
from belated.service.store import Note, ProblemRecord, Store

Names = Sequence[str]


def change_arms(
    store: Store, replicas: Replicas, name: str, add: Names, remove: Names, now: float
) -> tuple[str, ...]:
    """Change a problem's arms on the commit thread; returns the arms it has then."""
    if not store.one_owner:
        replicas.catch_up()
    replica = replicas.named(name)
    check_not_archived(name, replica.status)
    history = replica.arm_history
    change = history.checked(replica.problem, add, remove)
    if change is None:
        return history.arms
    note = Note(name, ARMS, change, now)
    replicas.expect(name)
    write_change(store, note, history, replica.problem.generation)
    if store.one_owner:
        replicas.fold(name, note)
    else:
        replicas.catch_up()
    return history.after(change).arms


def change_arms_offline(
    store: Store, problem: ProblemRecord, add: Names, remove: Names, now: float
) -> None:
    """Change a problem's arms in a store that no service is running on."""
    notes = store.notes(problem.name)
    check_not_archived(problem.name, status_after(notes))
    history = ArmHistory.of(problem.spec["arms"], notes)
    change = history.checked(served(problem), add, remove)
    if change is not None:
        note = Note(problem.name, ARMS, change, now)
        write_change(store, note, history, problem.generation)


def write_change(store: Store, note: Note, known: ArmHistory, generation: int) -> None:
    """Write the note about a change, unless there are changes that were not known."""
    if not store.record_in_turn(note, known.changes, generation):
        raise UnavailableError(
            f"the arms of {note.problem!r} were changed by somebody else just now; look at them, "
            "and send it again"
        )
