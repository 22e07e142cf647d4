"""Retention: what is old is folded into checkpoints, and the journal before them is given up.

    1. sweep     what an earlier retention has left, if it was interrupted
    2. fold      the journal into replicas of their own, up to the first event that is too young
    3. archive   rows of closed tickets as Parquet files, if that is wanted
    4. commit    the checkpoints in one transaction: now they are the truth
    5. sweep     the rows of closed tickets, a few at a time

Whatever stops it, nothing is lost: before step 4 nothing has changed, and after it only superfluous
rows are left to be deleted, by the next retention or the next start of the service.
"""

import functools
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from belated.service.core.replica import Replica
from belated.service.core.replicas import Replicas
from belated.service.core.retained import RETAINED, retained_payload
from belated.service.core.snapshots import FORMAT, code_version, packed
from belated.service.store import (
    PAGE,
    START,
    BehindCheckpoint,
    Checkpoint,
    CheckpointSums,
    Decision,
    Event,
    Note,
    Outcome,
    Position,
    Retention,
    Store,
    Unreadable,
)
from belated.service.store.records import DECIDED, LATE
from belated.service.upkeep.archive import Archive

log = logging.getLogger(__name__)

FOLDED_AT_ONCE = 200  # events between two pauses
SWEPT_AT_ONCE = 500  # rows looked at in one transaction

Slice = Callable[[Position, int], tuple[int, Position | None]]
Pause = Callable[[float], None]  # called between two pieces of work, with the seconds of the last


def no_pause(seconds: float) -> None:
    """Go on at once."""


def rest_as_long(seconds: float) -> None:
    """Let others work for as long as the last piece of work took."""
    time.sleep(seconds)


class Retained(NamedTuple):
    """What a retention will write: checkpoints, notes about them, and how far they reach."""

    checkpoints: Sequence[Checkpoint]
    notes: Sequence[Note]
    retention: Retention
    before: Position
    generations: Mapping[str, int]

    @property
    def tickets(self) -> int:
        """How many tickets are folded into the checkpoints in all."""
        return sum(note.payload["tickets"] for note in self.notes)


class CountedFold:
    """Folds the journal from the checkpoints on, and counts what is folded.

    `only` names a problem if no other one is folded.
    """

    def __init__(self, store: Store, only: str | None = None) -> None:
        self.replicas = Replicas.at_checkpoints(store, only)
        self._events, self._tallies = dict[str, int](), dict[str, Counter[tuple[str | None, str]]]()
        for name in self.replicas.by_name:
            sums = sums_of(store, name)
            self._events[name] = sums.events
            self._tallies[name] = Counter({(arm, kind): n for arm, kind, n in sums.tallies})

    def take(self, event: Event) -> None:
        """Fold an event, unless it is in the checkpoint of its problem."""
        name, body = event.problem, event.body
        replica = self.replicas.by_name.get(name)
        if replica is not None and event.position <= replica.position:
            return
        self.replicas.take(event)
        if name in self.replicas.by_name:
            self._events[name] = self._events.get(name, 0) + 1
            if isinstance(body, Decision | Outcome):
                kind = DECIDED if isinstance(body, Decision) else body.kind
                self._tallies.setdefault(name, Counter())[body.arm, kind] += 1

    def checkpoint(self, name: str, position: Position) -> Checkpoint:
        """The checkpoint of a problem at this position, which the fold has reached."""
        tallies = [(arm, kind, n) for (arm, kind), n in self._tallies.get(name, {}).items()]
        sums = CheckpointSums(self._events.get(name, 0), tallies)
        blob = packed(self.replicas.by_name[name])
        return Checkpoint(name, position, FORMAT, code_version(), sums, blob)


class Retaining:
    """Folds the journal up to a time, to make checkpoints of it."""

    def __init__(self, store: Store, until: float, pause: Pause = no_pause) -> None:
        self._store, self._until, self._pause = store, until, pause
        self._fold = CountedFold(store)
        self._replicas = self._fold.replicas
        self._before = self._replicas.position
        self._closed = {name: self._said(name) for name in self._replicas.by_name}

    def _said(self, name: str) -> int:
        """How many closed tickets the latest note about a problem tells of."""
        replica = self._replicas.by_name[name]
        if replica.position > self._before:  # sealed, and its rows stayed
            return 0 if replica.retained is None else int(replica.retained["tickets"])
        return closed_in(self._replicas, name)

    def fold(self) -> None:
        """Fold all events that are old enough."""
        replicas = self._replicas
        for event in replicas.events_behind():
            self._fold.take(event)
        while True:
            started = time.perf_counter()
            events, _ = self._store.tail(replicas.position, FOLDED_AT_ONCE)
            for event in events:
                if not isinstance(event.body, Unreadable) and event.body.at > self._until:
                    return
                self._fold.take(event)
                replicas.position = event.position
            if not events:
                return
            self._pause(time.perf_counter() - started)

    def archive(self, archive: Archive) -> None:
        """Write the rows of all tickets that were closed by now."""
        archive.begin(self._before)
        position, end = START, self._replicas.position
        while events := self._store.kept_before(position, end, PAGE):
            started = time.perf_counter()
            archive.add(event for event in events if self._is_superfluous(event))
            position = events[-1].position
            self._pause(time.perf_counter() - started)
        archive.finish(end)

    def _is_superfluous(self, event: Event) -> bool:
        replica, body = self._replicas.by_name.get(event.problem), event.body
        if replica is None or isinstance(body, Unreadable) or self._is_later(replica):
            return False
        return body.kind == LATE if isinstance(body, Note) else body.ticket not in replica.open

    def _is_later(self, replica: Replica) -> bool:
        """Whether a problem has a later checkpoint, which stays; then its rows stay as well."""
        return replica.position > self._replicas.position

    def retained(self, now: float) -> Retained | None:
        """What is to be written; None if nothing is old enough."""
        position, by_name = self._replicas.position, self._replicas.by_name
        if position == self._before:
            return None
        checkpoints, notes = [], []
        for name, replica in by_name.items():
            if self._is_later(replica):
                continue
            checkpoints.append(self._fold.checkpoint(name, position))
            if (closed := closed_in(self._replicas, name)) > self._closed.get(name, 0):
                said = retained_payload(self._until, closed, position, code_version())
                notes.append(Note(name, RETAINED, said, now))
        generations = {name: replica.problem.generation for name, replica in by_name.items()}
        reached = Retention(position, self._until, now)
        return Retained(checkpoints, notes, reached, self._before, generations)


def closed_in(replicas: Replicas, name: str) -> int:
    """How many tickets of a problem are closed."""
    replica = replicas.by_name[name]
    return replica.round - len(replica.open)


def sums_of(store: Store, name: str) -> CheckpointSums:
    """What was folded into the checkpoint of a problem."""
    checkpoint = store.checkpoints.of(name)
    return CheckpointSums() if checkpoint is None else checkpoint.sums


def prepared(
    store: Store, older_than: float, now: float, archive: Archive | None, pause: Pause = no_pause
) -> Retained | None:
    """Do all that comes before the commit; None if nothing is old enough, or it was overtaken.

    What an earlier retention has left must be swept before.
    """
    try:
        retaining = Retaining(store, now - older_than, pause)
        retaining.fold()
        found = retaining.retained(now)
        if found is not None and archive is not None:
            retaining.archive(archive)
        return found
    except BehindCheckpoint:
        return None


def commit(store: Store, replicas: Replicas | None, retained: Retained) -> bool:
    """Let the checkpoints take the place of the journal; on the commit thread, if there is one."""
    checkpoints, notes, retention, before, generations = retained
    written = (checkpoints, retention, before, notes, generations)
    if replicas is None or not store.one_owner:  # each worker reads the notes in the journal
        return store.retain(*written)
    served = [note for note in notes if note.problem in replicas.by_name]
    for note in served:
        replicas.expect(note.problem)
    done = store.retain(*written)
    for note in served if done else ():
        replicas.fold(note.problem, note)
    return done


def sweep(store: Store, pause: Pause = no_pause) -> Iterator[int]:
    """Delete what checkpoints have made superfluous; yields numbers of deleted rows."""
    yield from slices(store.sweep, pause)


def sweep_deleted(store: Store, pause: Pause = no_pause) -> Iterator[int]:
    """Delete the rows of problems that were deleted; yields numbers of deleted rows."""
    for name in store.being_deleted():
        yield from slices(functools.partial(store.sweep_deleted, name), pause)


def slices(work: Slice, pause: Pause) -> Iterator[int]:
    """Do some work for a few rows of the journal at a time; yields what it gives."""
    position: Position | None = START
    while position is not None:
        started = time.perf_counter()
        gone, position = work(position, SWEPT_AT_ONCE)
        yield gone
        pause(time.perf_counter() - started)
