"""Sealing: a problem gets a checkpoint, so that its state rests on no context before it.

The rows before the checkpoint stay, and tell what was decided and what came of it. Their contexts
can be blanked then: the fold of the problem begins at its checkpoint. Retention continues as
before; it leaves such a problem alone until it has come beyond the checkpoint.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

from belated.service.core.errors import UnavailableError
from belated.service.core.replicas import Replicas
from belated.service.core.retained import SEALED
from belated.service.store import START, Checkpoint, Note, Position, Store
from belated.service.upkeep.retention import FOLDED_AT_ONCE, CountedFold, Pause, no_pause


class Seal(NamedTuple):
    """A checkpoint, the position of the one before it, and the note about it."""

    checkpoint: Checkpoint
    before: Position
    note: Note
    generation: int


Commit = Callable[[Seal], bool]  # writes a seal; whether that was done


def prepared(store: Store, name: str, now: float, pause: Pause = no_pause) -> Seal | None:
    """Fold the journal of a problem; None if nothing has happened since its checkpoint."""
    fold = CountedFold(store, name)
    replicas = fold.replicas
    position = before = replicas.by_name[name].position if name in replicas.by_name else START
    while name not in replicas.broken:
        started = time.perf_counter()
        events, position = store.tail(position, FOLDED_AT_ONCE, name)
        for event in events:
            fold.take(event)
        if not events:
            break
        pause(time.perf_counter() - started)
    if name not in replicas.by_name:
        raise replicas.refusal(name)
    if position == before:
        return None
    checkpoint = fold.checkpoint(name, position)
    note = Note(name, SEALED, {"position": position}, now)
    return Seal(checkpoint, before, note, replicas.by_name[name].problem.generation)


def commit(store: Store, replicas: Replicas | None, seal: Seal) -> bool:
    """Write a seal; on the commit thread, if there is one."""
    name = seal.note.problem
    is_served = replicas is not None and store.one_owner and name in replicas.by_name
    if replicas is not None and is_served:
        replicas.expect(name)
    done = store.seal(*seal)
    if replicas is not None and is_served and done:
        replicas.fold(name, seal.note)
    return done


def seal(store: Store, name: str, now: float, pause: Pause, write: Commit) -> None:
    """Give a problem a checkpoint at the end of its journal, if it has none there."""
    found = prepared(store, name, now, pause)
    if found is not None and not write(found):
        raise UnavailableError("others have written checkpoints just now; try again")
