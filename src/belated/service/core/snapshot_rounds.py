"""When snapshots are taken: in rounds, a few at a time, and only of what has changed.

A round begins after enough events. It takes a snapshot of each replica that has changed since its
last one: some milliseconds' worth between two batches, as bytes, which another thread writes. When
all of them are written, the journal need not be read before the beginning of the round any more.
"""

import logging
import queue
import threading
import time
from collections.abc import Iterable

from belated.service.core.replicas import Replicas
from belated.service.core.snapshots import code_version, packed
from belated.service.store import Position, Snapshot, Store
from belated.service.store.snapshots import Complete, SnapshotGroup

log = logging.getLogger(__name__)

KEPT = 2  # snapshots of each problem; if the newest is damaged, there is another
FEWEST_EVENTS = 2_000  # between the beginnings of two rounds
PER_OPEN = 1  # more events per open play, since a snapshot writes all open plays
AT_ONCE = 0.005  # seconds that requests wait for snapshots to be packed


class SnapshotRounds:
    """Takes the snapshots of a store's replicas; call `go_on` between two batches."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._due: list[str] = []
        self._began: Position | None = None  # where the round in progress began
        self._writer = SnapshotWriter(store)

    def go_on(self, replicas: Replicas) -> None:
        """Begin a round if it is due, and take a few of its snapshots."""
        if self._writer.is_busy:
            return
        self._look_for_failure(replicas)
        if self._began is None and self._is_due(replicas):
            self._begin(replicas, self._position(replicas))
        if self._began is not None:
            self._take(replicas, self._position(replicas), AT_ONCE)

    def finish(self, replicas: Replicas) -> None:
        """Take all snapshots that are lacking, wait until they are written, and end."""
        self._writer.wait()
        self._look_for_failure(replicas)
        if replicas.changed or self._began is not None:
            self.save(replicas, self._position(replicas))
        self._writer.close()

    def save(self, replicas: Replicas, position: Position) -> None:
        """Take and write all snapshots that are lacking, all replicas being at this position."""
        self._begin(replicas, position)
        self._take(replicas, position, float("inf"))
        self._writer.wait()

    def _look_for_failure(self, replicas: Replicas) -> None:
        """After a failure the round ends, and what it has not written is left for the next."""
        failed, self._writer.failed = self._writer.failed, None
        if failed is not None:
            lacking = [*self._due, *(snapshot.problem for snapshot in failed.snapshots)]
            replicas.changed |= dict.fromkeys(name for name in lacking if name in replicas.by_name)
            self._due, self._began = [], None

    def _is_due(self, replicas: Replicas) -> bool:
        return replicas.unsaved >= max(FEWEST_EVENTS, PER_OPEN * len(replicas.tickets))

    def _position(self, replicas: Replicas) -> Position:
        """The position that all replicas are at."""
        return self._store.known_end() if self._store.one_owner else replicas.position

    def _begin(self, replicas: Replicas, position: Position) -> None:
        replicas.unsaved = 0
        due = dict.fromkeys([*self._due, *replicas.changed])
        for name in self._saved_by_others(replicas, due):
            del due[name]
        replicas.changed.clear()
        self._due, self._began = list(due), position

    def _saved_by_others(self, replicas: Replicas, due: Iterable[str]) -> list[str]:
        """The replicas of which another worker has saved all that they have."""
        complete = Complete() if self._store.one_owner else self._store.snapshots.complete()
        if complete.code_version != code_version():
            return []
        there = [name for name in due if name in replicas.by_name and name not in complete.but]
        return [name for name in there if replicas.by_name[name].position <= complete.position]

    def _take(self, replicas: Replicas, position: Position, seconds: float) -> None:
        until, taken = time.perf_counter() + seconds, list[Snapshot]()
        while self._due and (not taken or time.perf_counter() < until):
            name = self._due.pop()
            replica = replicas.by_name.get(name)
            if replica is not None:
                replica.move_to(position)
                taken.append(Snapshot(name, position, code_version(), packed(replica)))
                replicas.changed.pop(name, None)
        complete = None
        if not self._due and self._began is not None:
            complete = Complete(code_version(), self._began, sorted(replicas.broken))
            self._began = None
        self._writer.write(SnapshotGroup(taken, KEPT, complete))


class SnapshotWriter:
    """A thread that writes groups of snapshots, each in one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._groups: queue.SimpleQueue[SnapshotGroup | None] = queue.SimpleQueue()
        self._idle = threading.Event()
        self._idle.set()
        self._thread: threading.Thread | None = None
        self.failed: SnapshotGroup | None = None  # could not be written

    @property
    def is_busy(self) -> bool:
        """Whether a group is still to be written."""
        return not self._idle.is_set()

    def wait(self) -> None:
        """Wait until all is written."""
        self._idle.wait()

    def write(self, group: SnapshotGroup) -> None:
        """Write a group; the one before must be written."""
        self._idle.clear()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="snapshots", daemon=True)
            self._thread.start()
        self._groups.put(group)

    def close(self) -> None:
        """Wait until all is written, and end."""
        if self._thread is not None:
            self._groups.put(None)
            self._thread.join()

    def _run(self) -> None:
        while (group := self._groups.get()) is not None:
            started = time.perf_counter()
            try:
                self._store.snapshots.save_all(group)
                took = 1000.0 * (time.perf_counter() - started)
                log.debug("%d snapshots were written in %.0f ms", len(group.snapshots), took)
            except Exception as error:
                self.failed = group
                log.warning("no snapshot was taken: %s", error)
            self._idle.set()
