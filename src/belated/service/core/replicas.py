"""All replicas of a store: loaded from snapshots, and kept up with the journal.

One reader goes through the whole journal and hands each event to the replica of its problem. The
snapshots of all problems are taken at one position, from which the journal is read after a restart.
"""

import logging
import time

from belated.service.core.errors import NotFoundError, UnavailableError
from belated.service.core.problems import served
from belated.service.core.replica import Replica
from belated.service.core.snapshots import code_version, packed, unpacked
from belated.service.core.status import STATUS_AFTER
from belated.service.store import (
    PAGE,
    START,
    Event,
    Note,
    Position,
    ProblemRecord,
    Snapshot,
    Store,
    StoreUnavailable,
    Unreadable,
)
from belated.service.store.queries import place_of
from belated.service.store.records import CREATED

log = logging.getLogger(__name__)

KEPT = 2  # snapshots of each problem; if the newest is damaged, there is another
FEWEST_EVENTS = 2_000  # between two snapshots
PER_OPEN = 1  # more events per open play, since a snapshot writes all open plays


class Replicas:
    """The replicas by problem name, and the position up to which the journal was read.

    `broken` has the problems that this code cannot serve, with the reason. `unsaved` counts the
    events since the last snapshot.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.by_name: dict[str, Replica] = {}
        self.broken: dict[str, str] = {}
        self.position: Position = START
        self.unsaved = 0
        self._saved: Position = START

    @classmethod
    def loaded(cls, store: Store) -> "Replicas":
        """Load all replicas: from the latest snapshots, and from the events after them."""
        found = cls(store)
        for problem in store.problems():
            if problem.fault:
                found.give_up(problem.name, problem.fault)
            else:
                found._restore(problem)
        found.position = min((each.position for each in found.by_name.values()), default=START)
        found.catch_up()
        for problem in store.problems():  # those without a snapshot, whose events may be older
            if not found._knows(problem.name):
                found._refold(problem)
        return found

    def catch_up(self) -> int:
        """Fold all new events of the journal; returns their number."""
        count = 0
        while True:
            events, _ = self._store.tail(self.position)
            for event in events:
                self.take(event)
                self.position = event.position
            count += len(events)
            if len(events) < PAGE:
                return count

    def read_ahead(self) -> None:
        """Read the committed notes of other workers that cannot be folded yet.

        The journal is folded only as far as no event can be inserted any more. But a caller who was
        told that a problem is created or paused expects every worker to know it at once.
        """
        if self._store.one_owner:
            return
        for replica in self.by_name.values():
            replica.status_ahead = None
        for note in self._store.notes_after(self.position):
            if note.kind == CREATED and not self._knows(note.problem):
                self.add(ProblemRecord(note.problem, note.payload, note.at))
            elif note.kind in STATUS_AFTER and note.problem in self.by_name:
                self.by_name[note.problem].status_ahead = STATUS_AFTER[note.kind]

    def found(self, name: str) -> Replica | None:
        """The replica of a problem, which another worker may have created just now."""
        if not self._knows(name):
            self.read_ahead()
        return self.by_name.get(name)

    def _knows(self, name: str) -> bool:
        return name in self.by_name or name in self.broken

    def add(self, problem: ProblemRecord) -> Replica | None:
        """Start the replica of a problem; None if this code cannot serve it, which is logged."""
        try:
            replica = Replica(served(problem))
        except Exception as error:
            self.give_up(problem.name, in_words(error))
            return None
        self.by_name[problem.name] = replica
        return replica

    def give_up(self, name: str, reason: str) -> None:
        """Serve a problem no longer; its replica may be half-way through an event."""
        self.by_name.pop(name, None)
        self.broken[name] = reason
        log.error("problem %r cannot be served: %s", name, reason)

    def take(self, event: Event) -> None:
        """Fold the next event of the journal into its replica.

        A problem with an event that cannot be folded is given up, and all others go on.
        """
        name, body = event.problem, event.body
        if name in self.broken:
            return
        if isinstance(body, Unreadable):
            self.give_up(name, body.reason)
            return
        replica = self.by_name.get(name)
        if isinstance(body, Note) and body.kind == CREATED and replica is None:
            replica = self.add(ProblemRecord(name, body.payload, body.at))
        if replica is not None and event.position > replica.position:
            try:
                replica.fold(body)
            except Exception as error:
                _, seq = place_of(event.position)
                self.give_up(name, f"row {seq} of the journal cannot be folded: {in_words(error)}")
                return
            replica.move_to(event.position)
            self.unsaved += 1

    def _restore(self, problem: ProblemRecord) -> None:
        """Load a replica from its latest snapshot, if the same code has written that."""
        snapshot = self._store.snapshots.latest(problem.name)
        if snapshot is None or snapshot.code_version != code_version():
            return
        try:
            replica = unpacked(served(problem), snapshot.blob)
        except Exception as error:
            log.warning("%s; the journal is folded again", in_words(error))
            return
        replica.move_to(snapshot.position)
        self.by_name[problem.name] = replica

    def _refold(self, problem: ProblemRecord) -> None:
        """Fold a problem's events from the beginning up to the present position."""
        log.info("the journal of %r is folded from its beginning", problem.name)
        if self.add(problem) is None:
            return
        position = START
        while True:
            events, position = self._store.tail(position, problem=problem.name)
            for event in events:
                if event.position <= self.position:
                    self.take(event)
            if not events or problem.name in self.broken:
                return

    def holding(self, ticket: str) -> Replica | None:
        """The replica in which a ticket is open; None if it is open in none."""
        for replica in self.by_name.values():
            if ticket in replica.open:
                return replica
        return None

    def named(self, name: str) -> Replica:
        """The replica of a problem; an error that says why if there is none."""
        replica = self.by_name.get(name)
        if replica is not None:
            return replica
        if name in self.broken:
            raise self.refusal(name)
        raise NotFoundError(f"there is no problem {name!r}")

    def refusal(self, name: str) -> UnavailableError:
        """The error for whatever is asked of a problem that has no replica."""
        reason = self.broken.get(name, "this worker does not know it yet")
        return UnavailableError(f"problem {name!r} cannot be served: {reason}")

    # -- snapshots

    def is_snapshot_due(self) -> bool:
        """Whether enough events were folded since the last snapshot."""
        waiting = sum(len(replica.open) for replica in self.by_name.values())
        return self.unsaved >= max(FEWEST_EVENTS, PER_OPEN * waiting)

    def save(self, position: Position) -> bool:
        """Take a snapshot of every replica, all being at this position; returns whether it did."""
        self.unsaved, started = 0, time.perf_counter()
        try:
            if self._has_another_saved():
                return False
            for name, replica in self.by_name.items():
                replica.move_to(position)
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
        """Whether another worker has taken snapshots since this one last took or saw some."""
        if self._store.one_owner or not self.by_name:
            return False
        latest = self._store.snapshots.latest(next(iter(self.by_name)))
        seen, self._saved = self._saved, max(self._saved, latest.position if latest else START)
        return self._saved > seen > START


def in_words(error: Exception) -> str:
    """What an error says; its name, too, if it is none that was meant for people."""
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
