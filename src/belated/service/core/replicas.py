"""All replicas of a store: loaded from snapshots, and kept up with the journal.

One reader goes through the whole journal and hands each event to the replica of its problem.
"""

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from belated.service.core.errors import NotFoundError, UnavailableError
from belated.service.core.problems import gone_options, served
from belated.service.core.replica import Replica
from belated.service.core.retained import must_begin_again
from belated.service.core.snapshots import code_version, unpacked
from belated.service.core.status import STATUS_AFTER
from belated.service.store import (
    PAGE,
    START,
    BehindCheckpoint,
    Decision,
    Event,
    Lag,
    Note,
    Position,
    ProblemRecord,
    Store,
    StoreUnavailable,
    Unreadable,
)
from belated.service.store.queries import place_of
from belated.service.store.records import CREATED, DELETED, GENERATION, Body, created_by
from belated.service.store.snapshots import Complete
from belated.service.tickets.open_plays import OpenPlay
from belated.service.tickets.open_tickets import OpenTickets

log = logging.getLogger(__name__)

Result = TypeVar("Result")

MOST_REMEMBERED = 10_000  # decisions of this worker that are not folded yet
SLICE = 200  # events of other workers that are folded before requests are answered again


class Replicas:
    """The replicas by problem name, and the position up to which the journal was read.

    `broken` has the problems that cannot be served, with the reason. `changed` names the replicas
    that have events of which there is no snapshot, and `unsaved` counts such events.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.by_name: dict[str, Replica] = {}
        self.broken: dict[str, str] = {}
        self.tickets = OpenTickets()
        self.position: Position = START
        self.changed: dict[str, None] = {}
        self.unsaved = 0
        self._uncommitted: set[str] = set()  # may know of more than is written, or of less
        self._ahead: list[Replica] = []  # whose `status_ahead` is set
        self._own: dict[str, Decision] = {}  # made by this worker and neither folded nor told

    @classmethod
    def loaded(cls, store: Store) -> "Replicas":
        """Load all replicas: from the latest snapshots or checkpoints, and the events after them.

        If checkpoints are written meanwhile, events may be lacking, and all is loaded again.
        """
        while True:
            reached, sealed = store.checkpoints.reached().position, store.checkpoints.positions()
            with contextlib.suppress(BehindCheckpoint):
                found = cls._loaded(store, reached, sealed)
                same = store.checkpoints.reached().position == reached
                if same and store.checkpoints.positions() == sealed:
                    return found

    @classmethod
    def _loaded(cls, store: Store, reached: Position, sealed: Mapping[str, Position]) -> "Replicas":
        found, complete = cls(store), store.snapshots.complete()
        problems = store.problems()
        for problem in problems:
            say_gone_options(problem)
            found._restore(problem, complete, max(reached, sealed.get(problem.name, START)))
        latest = complete.position if complete.code_version == code_version() else START
        latest = max(latest, reached)
        behind = {
            name: replica for name, replica in found.by_name.items() if replica.position < latest
        }
        found.by_name = {name: each for name, each in found.by_name.items() if name not in behind}
        found.position = min((each.position for each in found.by_name.values()), default=latest)
        found.catch_up()
        for problem in problems:
            if not found._knows(problem.name):
                found._fold_alone(problem, behind.get(problem.name))
        return found

    @classmethod
    def at_checkpoints(cls, store: Store, only: str | None = None) -> "Replicas":
        """All replicas as they were at the newest checkpoints, once `events_behind` are folded.

        Where contexts were blanked, a replica may be later. `only` names a single one.
        """
        found = cls(store)
        found.position = store.checkpoints.reached().position
        for problem in store.problems():
            if only in (None, problem.name):
                found._restore_checkpoint(problem)
        return found

    def events_behind(self) -> Iterator[Event]:
        """The events before the checkpoints of problems that could not be folded into these."""
        for problem in self._store.problems() if self.position != START else ():
            replica = self.by_name.get(problem.name)
            position = START if replica is None else replica.position
            while problem.name not in self.broken and position < self.position:
                events, position = self._store.tail(position, problem=problem.name)
                if not events:
                    break
                yield from (event for event in events if event.position <= self.position)

    def lag(self, now: float) -> Lag:
        """How far the replicas are behind the journal, and which transaction holds them back."""
        return self._store.lag(self.position, now)

    def keep_up(self) -> bool:
        """Fold some new events of the journal; returns whether there may be more.

        The journal is folded only as far as no event can be inserted any more. But a caller who was
        told that a problem is created or paused expects every worker to know it at once. So the
        committed notes that cannot be folded yet are read, too.
        """
        try:
            events, notes = self._store.news(self.position, SLICE)
        except BehindCheckpoint:
            self._load_again()
            self.read_ahead()
            return True
        for event in events:
            self.take(event)
            self.position = event.position
        self._take_ahead(notes)
        return len(events) == SLICE

    def _next_events(self, limit: int) -> list[Event]:
        """The next events of the journal; if some are lacking, all replicas are loaded again."""
        try:
            return self._store.tail(self.position, limit)[0]
        except BehindCheckpoint:
            self._load_again()
            return []

    def _load_again(self) -> None:
        log.warning("the journal was shortened beyond what was read; all is loaded again")
        vars(self).update(vars(Replicas.loaded(self._store)))

    def catch_up(self) -> int:
        """Fold all new events of the journal; returns their number."""
        count = 0
        while True:
            events = self._next_events(PAGE)
            for event in events:
                self.take(event)
                self.position = event.position
            count += len(events)
            if len(events) < PAGE:
                return count

    def read_ahead(self) -> None:
        """Read the committed notes of other workers that cannot be folded yet (see `keep_up`)."""
        if not self._store.one_owner:
            self._take_ahead(self._store.notes_after(self.position))

    def _take_ahead(self, notes: Iterable[Note]) -> None:
        """Heed notes of other workers before they are folded; the latest of a problem counts."""
        for replica in self._ahead:
            replica.status_ahead = None
        self._ahead.clear()
        for note in notes:
            if note.kind == CREATED and not self._knows(note.problem):
                self.add(created_by(note))
            elif note.kind == DELETED:
                self._take_deletion(note)
            elif note.kind in STATUS_AFTER and note.problem in self.by_name:
                replica = self.by_name[note.problem]
                replica.status_ahead = STATUS_AFTER[note.kind]
                self._ahead.append(replica)

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
        replica.join(self.tickets)
        self.by_name[problem.name] = replica
        return replica

    def give_up(self, name: str, reason: str) -> None:
        """Serve a problem no longer; its replica may be half-way through an event."""
        replica = self.by_name.pop(name, None)
        if replica is not None:
            replica.let_go()
        self.changed.pop(name, None)
        self.broken[name] = reason
        log.error("problem %r cannot be served: %s", name, reason)

    def drop(self, name: str) -> None:
        """Forget a problem, which was deleted."""
        replica = self.by_name.pop(name, None)
        if replica is not None:
            replica.let_go()
        self.broken.pop(name, None)
        self.changed.pop(name, None)
        self._uncommitted.discard(name)

    def _take_deletion(self, note: Note) -> None:
        """Forget the problem that a note says was deleted, unless it is another of this name."""
        replica = self.by_name.get(note.problem)
        if replica is None or replica.problem.generation == note.payload.get(GENERATION):
            self.drop(note.problem)

    def take(self, event: Event) -> None:
        """Fold the next event of the journal into its replica.

        A problem with an event that cannot be folded is given up, and all others go on.
        """
        name, body = event.problem, event.body
        if isinstance(body, Note) and body.kind == DELETED:
            self._take_deletion(body)
            return
        if name in self.broken:
            return
        if isinstance(body, Unreadable):
            self.give_up(name, body.reason)
            return
        replica = self.by_name.get(name)
        if isinstance(body, Note) and body.kind == CREATED and replica is None:
            replica = self.add(created_by(body))
        if replica is not None and replica.position == START and not is_first_of(replica, body):
            return  # of a problem that had this name before
        if replica is None or event.position <= replica.position:
            return
        try:
            again = isinstance(body, Note) and is_of_other_code(body, replica)
            if not again:
                replica.fold(body)
        except Exception as error:
            _, seq = place_of(event.position)
            self.give_up(name, f"row {seq} of the journal cannot be folded: {in_words(error)}")
            return
        if again:
            self._begin_again(name, event)
            return
        replica.move_to(event.position)
        self._count(name)
        if isinstance(body, Decision):
            self._own.pop(body.ticket, None)

    def _begin_again(self, name: str, event: Event) -> None:
        """Fold a problem again from its checkpoint, which another version of the code has written.

        This version folds other bits from there than those it had, and so does anyone who verifies
        it.
        """
        apart, problem = Replicas(self._store), self._store.problem(name)
        if problem is not None:
            apart._restore_checkpoint(problem)
            replica = apart.by_name.get(name)
            note = event.body
            assert isinstance(note, Note)
            if replica is not None and not is_of_other_code(note, replica):
                apart._fold_alone(problem, replica, event.position)
            elif name not in apart.broken:
                apart.give_up(name, "the checkpoint of which its journal tells is lacking")
        self._take_over(name, apart)

    def _take_over(self, name: str, apart: "Replicas") -> None:
        """Use the replica of a problem that was made apart, instead of the present one.

        It is made apart because the store may fail on the way: then nothing has changed here.
        """
        stale, replica = self.by_name.pop(name, None), apart.by_name.get(name)
        if stale is not None:
            stale.let_go()
        if replica is not None:
            self._use(replica, replica.position)
        self.broken |= apart.broken
        self.changed |= apart.changed
        self.unsaved += apart.unsaved

    def fold(self, name: str, body: Body) -> None:
        """Fold an event that is about to be committed, where there is one owner."""
        self.expect(name)
        self.by_name[name].fold(body)
        self._count(name)

    def expect(self, name: str) -> None:
        """An event of a problem is about to be written: without `committed` it is in doubt."""
        if self._store.one_owner:
            self._uncommitted.add(name)

    def _count(self, name: str) -> None:
        self.changed[name] = None
        self.unsaved += 1

    def committed(self) -> None:
        """All that was folded before its commit is committed."""
        self._uncommitted.clear()

    def roll_back(self) -> None:
        """Fold again the replicas of a failed commit, which may have been written all the same.

        Those into whose journal somebody else has written are folded again, too.
        """
        if not (self._uncommitted or self._store.saw_foreign_rows):
            return
        self._uncommitted |= self._store.problems_with_foreign_rows()
        complete, end = self._store.snapshots.complete(), self._store.known_end()
        reached, sealed = self._store.checkpoints.reached(), self._store.checkpoints.positions()
        for name in sorted(self._uncommitted):
            problem, apart = self._store.problem(name), Replicas(self._store)
            if problem is not None and name not in self.broken:
                begin = max(reached.position, sealed.get(name, START))
                apart._restore(problem, complete, begin)
                if name not in apart.broken:
                    apart._fold_alone(problem, apart.by_name.get(name), end)
            self._take_over(name, apart)
            self._uncommitted.discard(name)

    def _restore(self, problem: ProblemRecord, complete: Complete, begin: Position) -> None:
        """Load a replica from its latest snapshot, if the same code has written that.

        What lies before `begin` cannot be folded any more, so a snapshot must not be earlier.
        Otherwise it is loaded from its checkpoint, if it has one.
        """
        if problem.fault:
            self.give_up(problem.name, problem.fault)
            return
        snapshot = self._store.snapshots.reaching(problem.name, complete)
        usable = snapshot is not None and snapshot.position >= begin
        if snapshot is not None and usable and snapshot.code_version == code_version():
            try:
                self._use(unpacked(served(problem), snapshot.blob), snapshot.position)
                return
            except Exception as error:
                log.warning("%s; the journal is folded again", in_words(error))
        self._restore_checkpoint(problem)

    def _restore_checkpoint(self, problem: ProblemRecord) -> None:
        """Load a replica from its checkpoint, if it has one; without that it cannot be served."""
        try:
            checkpoint = self._store.checkpoints.of(problem.name)
            if checkpoint is not None:
                replica = unpacked(served(problem), checkpoint.blob, checkpoint.format)
                replica.begun_at = checkpoint.position
                self._use(replica, checkpoint.position)
        except StoreUnavailable:  # which says nothing about the checkpoint
            raise
        except Exception as error:
            self.give_up(problem.name, in_words(error))

    def _use(self, replica: Replica, position: Position) -> None:
        """Serve a replica that has all events up to a position."""
        replica.join(self.tickets)
        replica.move_to(position)
        self.by_name[replica.problem.name] = replica

    def _fold_alone(
        self, problem: ProblemRecord, replica: Replica | None, end: Position | None = None
    ) -> None:
        """Fold a problem's events up to the present position, from its replica or the beginning."""
        end = self.position if end is None else end
        if replica is None:
            log.info("the journal of %r is folded from its beginning", problem.name)
            replica = self.add(problem)
        else:
            self.by_name[problem.name] = replica
        position = START if replica is None else replica.position
        while problem.name not in self.broken:
            events, position = self._store.tail(position, problem=problem.name)
            for event in events:
                if event.position <= end:
                    self.take(event)
            if not events:
                return

    def remember(self, decisions: Iterable[Decision]) -> None:
        """Remember decisions of this worker that are committed and not folded yet.

        Many are told at once, and need not be looked for in the store then.
        """
        for decision in decisions:
            self._own[decision.ticket] = decision
        while len(self._own) > MOST_REMEMBERED:
            del self._own[next(iter(self._own))]

    def own_decision(self, ticket: str) -> Decision | None:
        """A remembered decision, which is forgotten now: once it is told, the store knows more."""
        return self._own.pop(ticket, None)

    def holding(self, ticket: str) -> tuple[Replica, OpenPlay] | None:
        """The replica in which a ticket is open, and its play; None if it is open in none."""
        holder, slot = self.tickets.place(ticket)
        if holder is None:
            return None
        assert isinstance(holder, Replica)
        return holder, holder.open.play_at(slot)

    def put_back(self, due: Iterable[str]) -> None:
        """Tickets that were due could not be closed; they are due again."""
        for ticket in due:
            held = self.holding(ticket)
            if held is not None:
                held[0].watch(ticket)

    def sound(self, name: str, work: Callable[[Replica], Result]) -> Result | None:
        """What a replica is worked into; None if there is none, or if it is given up for that."""
        replica = self.by_name.get(name)
        if replica is None:
            return None
        try:
            return work(replica)
        except Exception as error:  # which must not keep others from being shown
            self.give_up(name, f"its state makes no sense: {in_words(error)}")
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


def say_gone_options(problem: ProblemRecord) -> None:
    """Log which options of a problem are ignored, since its learner has them no more."""
    gone = gone_options(problem.spec)
    if gone:
        log.warning(
            "problem %r: %s is another learner since it was created, which has no option %s; "
            "this is ignored, and the new learner has learned from the whole journal",
            problem.name,
            problem.spec["learner"],
            " and no ".join(gone),
        )


def is_of_other_code(note: Note, replica: Replica) -> bool:
    """Whether a note tells of a checkpoint from which a replica must be folded again."""
    return must_begin_again(note, replica.begun_at, code_version())


def is_first_of(replica: Replica, body: Body) -> bool:
    """Whether an event is the first of a problem: the note that it was created."""
    if not isinstance(body, Note) or body.kind != CREATED:
        return False
    return created_by(body).generation == replica.problem.generation


def in_words(error: Exception) -> str:
    """What an error says; its name, too, if it is none that was meant for people."""
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
