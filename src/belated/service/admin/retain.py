"""Retention by the command line: on a store at rest, or beside workers on PostgreSQL."""

from pathlib import Path
from typing import NamedTuple

from belated.service.core.errors import UnavailableError
from belated.service.store import ProblemGone, Store
from belated.service.upkeep.archive import Archive
from belated.service.upkeep.retention import Pause, Retained, commit, no_pause, prepared, sweep


class RetentionDone(NamedTuple):
    """What a retention did: rows that it deleted, and the tickets in the checkpoints by now."""

    deleted: int
    tickets: int
    until: float


def committed(store: Store, found: Retained) -> bool:
    """Whether checkpoints could be written: no others were, and no problem is deleted."""
    try:
        return commit(store, None, found)
    except ProblemGone:
        return False


def retain(
    store: Store,
    older_than: float,
    now: float,
    folder: Path | None,
    pause: Pause = no_pause,
) -> RetentionDone:
    """Fold what is older than so many seconds into checkpoints."""
    with store.retaining() as alone:
        if not alone:
            raise UnavailableError("somebody else retains just now; try again later")
        archive = None if folder is None else Archive(folder)
        deleted = sum(sweep(store, pause))
        found = prepared(store, older_than, now, archive, pause)
        if found is not None and not committed(store, found):
            raise UnavailableError("others have written just now; try again")
        reached = store.checkpoints.reached()
        if archive is not None:
            archive.settle(reached.position)
        deleted += sum(sweep(store, pause))
    return RetentionDone(deleted, 0 if found is None else found.tickets, reached.until)
