"""All replicas of a store: brought up from snapshots and the rest of the journal, and kept there.

One reader goes through the whole journal and hands each event to its problem's replica. Snapshots
of all problems are taken at one position, so that after a restart the journal is read from there.
"""

import logging
import time

from belated.service.core.errors import Unavailable, Unknown
from belated.service.core.problems import served
from belated.service.core.replica import STATUS_AFTER, Replica
from belated.service.core.snapshots import code_version, packed, unpacked
from belated.service.store import (
    PAGE,
    START,
    Event,
    Note,
    Position,
    Problem,
    Snapshot,
    Store,
    StoreUnavailable,
)
from belated.service.store.records import CREATED

log = logging.getLogger(__name__)

KEPT = 2  # snapshots of a problem; should the newest be damaged, there is another
FEWEST_EVENTS = 2_000  # between two snapshots
PER_OPEN = 1  # and so many for each open play, all of which a snapshot has to write


class Replicas:
    """The replicas by the names of their problems, and how far the journal has been read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.by_name: dict[str, Replica] = {}
        self.broken: dict[str, str] = {}
        self.position: Position = START
        self.unsaved = 0
        self._saved: Position = START

    @classmethod
    def loaded(cls, store: Store) -> "Replicas":
        """From the latest snapshots and what came after them."""
        found = cls(store)
        for problem in store.problems():
            found._restore(problem)
        found.position = min((each.position for each in found.by_name.values()), default=START)
        found.catch_up()
        for problem in store.problems():  # those without a snapshot, made before the others'
            if not found._knows(problem.name):
                found._refold(problem)
        return found

    def catch_up(self) -> int:
        """Fold all that is new in the journal; returns how many events."""
        count = 0
        while True:
            events, self.position = self._store.tail(self.position)
            for event in events:
                self.take(event)
            count += len(events)
            if len(events) < PAGE:
                return count

    def look_ahead(self) -> None:
        """Heed what others have committed about problems, before its turn to be folded comes.

        The journal is read only as far as nothing can come in between any more. Whoever has
        created or paused a problem has been told so, and may expect it of every worker at once.
        """
        if self._store.one_owner:
            return
        for replica in self.by_name.values():
            replica.foretold = None
        for note in self._store.notes_after(self.position):
            if note.kind == CREATED and not self._knows(note.problem):
                self.add(Problem(note.problem, note.payload, note.at))
            elif note.kind in STATUS_AFTER and note.problem in self.by_name:
                self.by_name[note.problem].foretold = STATUS_AFTER[note.kind]

    def found(self, name: str) -> Replica | None:
        """The replica of a problem that may just have been created by another worker."""
        if not self._knows(name):
            self.look_ahead()
        return self.by_name.get(name)

    def _knows(self, name: str) -> bool:
        return name in self.by_name or name in self.broken

    def add(self, problem: Problem) -> Replica | None:
        """A new problem; one that cannot be served with this code is noted and left alone."""
        try:
            replica = Replica(served(problem))
        except (ValueError, KeyError, TypeError) as error:
            self.broken[problem.name] = str(error)
            log.error("problem %r cannot be served: %s", problem.name, error)
            return None
        self.by_name[problem.name] = replica
        return replica

    def take(self, event: Event) -> None:
        """The next event of the journal."""
        body, replica = event.body, self.by_name.get(event.problem)
        if isinstance(body, Note) and body.kind == CREATED and replica is None:
            replica = self.add(Problem(event.problem, body.payload, body.at))
        if replica is not None and event.position > replica.position:
            replica.fold(body)
            replica.position, replica.since = event.position, 0
            self.unsaved += 1

    def _restore(self, problem: Problem) -> None:
        """From its latest snapshot, if there is one that this code may believe."""
        snapshot = self._store.snapshots.latest(problem.name)
        if snapshot is None or snapshot.code_version != code_version():
            return
        try:
            replica = unpacked(served(problem), snapshot.blob)
        except ValueError as error:
            log.warning("%s; the journal is folded again", error)
            return
        replica.position = snapshot.position
        self.by_name[problem.name] = replica

    def _refold(self, problem: Problem) -> None:
        log.info("the journal of %r is folded from its beginning", problem.name)
        if self.add(problem) is None:
            return
        position = START
        while True:
            events, position = self._store.tail(position, problem=problem.name)
            for event in events:
                if event.position <= self.position:
                    self.take(event)
            if not events:
                return

    def holding(self, ticket: str) -> Replica | None:
        """The replica in which a ticket is open."""
        for replica in self.by_name.values():
            if ticket in replica.open:
                return replica
        return None

    def named(self, name: str) -> Replica:
        """The replica of a problem, or why there is none."""
        replica = self.by_name.get(name)
        if replica is not None:
            return replica
        if name in self.broken:
            raise Unavailable(f"problem {name!r} cannot be served: {self.broken[name]}")
        raise Unknown(f"there is no problem {name!r}")

    # -- snapshots

    def is_due(self) -> bool:
        """Whether so much has happened that a snapshot is worth while."""
        waiting = sum(len(replica.open) for replica in self.by_name.values())
        return self.unsaved >= max(FEWEST_EVENTS, PER_OPEN * waiting)

    def save(self, position: Position) -> bool:
        """Take a snapshot of every replica; the caller knows that all are at this position."""
        self.unsaved, started = 0, time.perf_counter()
        try:
            if self._has_another_saved():
                return False
            for name, replica in self.by_name.items():
                replica.position, replica.since = position, 0
                snapshot = Snapshot(name, position, code_version(), packed(replica))
                self._store.snapshots.save(snapshot)
                self._store.snapshots.prune(name, KEPT)
        except (StoreUnavailable, ValueError) as error:  # or another worker took the very same
            log.warning("no snapshot was taken: %s", error)
            return False
        self._saved = position
        took = 1000.0 * (time.perf_counter() - started)
        log.info("a snapshot of %d problems took %.0f ms", len(self.by_name), took)
        return True

    def _has_another_saved(self) -> bool:
        """Whether another worker has taken snapshots since this one did, or has seen any."""
        if self._store.one_owner or not self.by_name:
            return False
        latest = self._store.snapshots.latest(next(iter(self.by_name)))
        seen, self._saved = self._saved, max(self._saved, latest.position if latest else START)
        return self._saved > seen > START
