"""Changes of a problem's terms: each is a note in the journal with all terms as they are then.

If two are asked for at once, the later note of the journal stands.
"""

from collections.abc import Mapping
from typing import Any

from belated.service.core.replicas import Replicas
from belated.service.core.status import check_not_archived, status_after
from belated.service.core.terms import TERMS, checked_terms, spec_after
from belated.service.store import Note, ProblemRecord, Store


def change_terms(
    store: Store, replicas: Replicas, name: str, given: Mapping[str, Any], now: float
) -> None:
    """Change the terms of a problem on the commit thread."""
    if not store.one_owner:
        replicas.catch_up()
    replica = replicas.named(name)
    check_not_archived(name, replica.status_in_force)
    terms = checked_terms(name, replica.problem.spec, given)
    if terms is None:
        return
    note = Note(name, TERMS, terms, now)
    replicas.expect(name)
    store.append((), (), [note], generations={name: replica.problem.generation})
    if store.one_owner:
        replicas.fold(name, note)
    else:
        replicas.catch_up()


def change_terms_offline(
    store: Store, problem: ProblemRecord, given: Mapping[str, Any], now: float
) -> None:
    """Change the terms of a problem in a store that no service is running on."""
    notes = store.notes(problem.name)
    check_not_archived(problem.name, status_after(notes))
    terms = checked_terms(problem.name, spec_after(problem.spec, notes), given)
    if terms is not None:
        store.record(problem.name, TERMS, terms, now)
