"""A session: one learner that is asked for decisions and told their outcomes.

It keeps the tickets, lets them expire, restarts the learner where the horizon doubles, and watches
the promises that were made for the learner. A round is one `ask`. What is reported between two asks
arrives at the end of the round before, so that it counts from the next ask on. Every call either
does all it should or, if it raises an error, changes nothing. Threads may share a session: a lock
lets one call at a time through. A forked process may not (see `forks`).

How a round is played:

- The **fast path** is one compiled call of the learner's `Runner`. `ask` and `tell` take it if a
  few comparisons show that nothing else is to be done in this round; `_set_fast_path` prepares the
  numbers that they compare with.
- The **slow path** (`_ask_slowly`) plays a round in which a ticket expires, an epoch begins, a
  state that grows needs room, a bound is doubled or a promise is broken. It is a transaction.
  `_prepare_round` makes all changes in a scratch copy of the runner's memory (`_scratch_copy`). If
  anything fails there or when the round is played, the scratch copy is abandoned. Otherwise the
  session swaps the two (`_use`), and the runner it had is the next scratch copy.
"""

import hashlib
import math
import sys
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from belated.asktell.forks import CHANGING, refuse_in_children
from belated.asktell.held_rounds import NO_ROUNDS, FinishedRound, FinishedRounds, HeldRounds
from belated.asktell.learner_options import kind_named, learner_in_epoch
from belated.asktell.options import (
    DOUBLING,
    ROUNDS_AT_ONCE,
    FeedbackOptions,
    epoch_of,
    first_round_of,
)
from belated.asktell.runners import runner_for
from belated.asktell.saving import to_text
from belated.asktell.session_state import SavedBook, SavedRound, SessionState
from belated.asktell.ticket_book import ClosedTicket, LossReports, TicketBook, ToldLosses
from belated.asktell.ticket_rules import (
    closed_to_cancelling,
    closed_to_reports,
    conflict,
    expiring_with,
)
from belated.checks import MOST_ROUNDS, as_arms, as_count
from belated.compiled.ask_tell import CHECKED, PREDICT_ONLY, UNCHECKED, Runner
from belated.learners.contract import NOTHING_CAME, Learner
from belated.numerics.random_stream import seeded
from belated.types import (
    Arm,
    BelatedError,
    BelatedWarning,
    Feedback,
    HorizonExceededError,
    MissingExceededError,
    Ticket,
    TicketState,
    UnknownTicketError,
)

CONCERN = "concern"  # among what the user was warned of
# What a broken promise means for the guarantee.
VOID = "the regret bound no longer holds"
UNTOUCHED = "and the regret bound holds, as it does not rest on this"


class Prepared(NamedTuple):
    """Epoch, learner and runner with which the next round can be played."""

    epoch: int
    learner: Learner
    runner: Runner


class Session(ABC):
    """What bandits and experts share; a subclass says how a round is played and told.

    `only_kind` is the learner that a class runs; if it is None, any registered learner of the
    setting will do.
    """

    is_bandit: ClassVar[bool]
    only_kind: ClassVar[type[Learner] | None] = None
    minimum_share: float = 0.0  # the least probability of an arm, for bandits that have one

    def __init__(
        self,
        kind: type[Learner],
        arms: Sequence[Arm] | int,
        options: Mapping[str, Any],
        feedback: FeedbackOptions,
        seed: int | None,
        remember: int,
    ) -> None:
        self._set_up(kind, as_arms(arms), options, feedback)
        stream = seeded(None if seed is None else as_count(seed, "seed", 0))
        origin = repr((self._title, self.arms, stream.tolist()))
        key = hashlib.sha256(origin.encode()).hexdigest()[:8]
        self._book = TicketBook(key, as_count(remember, "remember", 0), self._places)
        learner = self._learner_in(0)
        self._hold_for(learner)
        state = learner.reserved(learner.start(), ROUNDS_AT_ONCE)
        self._use(Prepared(0, learner, self._runner_for(learner, state, stream)), 1)

    @abstractmethod
    def ask(self) -> Ticket:
        """Play a round, and return a ticket with the decision."""

    def cancel(self, ticket: Ticket | str) -> Feedback:
        """Cancel a decision that was not used: nothing more is learned from it."""
        with self._lock:
            return self._cancelled(ticket)

    def _cancelled(self, ticket: Ticket | str) -> Feedback:
        round_ = self._round_of(ticket)
        name = self._book.id_of(round_)
        entry = self._book.open.get(round_)
        if entry is None:
            raise closed_to_cancelling(name, self._book.closed_ticket(round_).state)
        finished = NO_ROUNDS
        if round_ >= self._first_round:
            told = self._told(entry)
            if self._held is None or np.isnan(told.losses).all():
                self._withdraw(entry)
            else:
                finished = {round_: FinishedRound(entry, told)}
        self._close(round_, entry, TicketState.CANCELLED)
        self._learn_finished(finished)
        return Feedback(name, counted=False, state=TicketState.CANCELLED)

    def weights(self) -> dict[Arm, float]:
        """Return the weights that the next `ask` will use; nothing changes."""
        with self._lock:
            runner = self._prepare_round(self._book.due(self._expire_after)).runner
            runner.ask(runner.address, PREDICT_ONLY)
            return self._by_arm(runner.workspace.prediction.q)

    def pending(self) -> list[Ticket]:
        """Return all open tickets, oldest first."""
        with self._lock:
            return [self._ticket_of(round_, entry) for round_, entry in self._book.open.items()]

    @property
    def round(self) -> int:
        """The number of rounds that have been played."""
        return self._book.opened

    def to_json(self) -> str:
        """Return the whole learner as text, from which `belated.from_json` continues exactly."""
        with self._lock:
            return to_text(self.snapshot())

    def __repr__(self) -> str:
        played = f"{self.round} rounds played, {len(self._book.open)} tickets pending"
        return f"<{self._title} of {len(self.arms)} arms: {played}>"

    # -- saving

    def snapshot(self) -> SessionState:
        """All there is to save of the session; its arrays are the session's own."""
        book, workspace = self._book, self._runner.workspace
        held = {} if self._held is None else self._held.rounds
        opened = [self._saved(r, entry, self._told(entry)) for r, entry in book.open.items()]
        closed = {round_: ClosedTicket(*parts) for round_, *parts in book.closed}
        return SessionState(
            session=type(self).__name__,
            learner=self.kind.name,
            is_bandit=self.is_bandit,
            arms=self.arms,
            options=self._options,
            feedback=self._feedback,
            epoch=self._epoch,
            warned=self._warned,
            stream=workspace.stream,
            state=workspace.state,
            book=SavedBook(book.key, book.remember, book.opened, opened, closed),
            held=[self._saved(round_, *held[round_]) for round_ in sorted(held)],
            minimum_share=self.minimum_share,
        )

    @classmethod
    def restore(cls, saved: SessionState) -> Self:
        """A session that goes on from a snapshot, which is checked only against itself."""
        session = cls.__new__(cls)
        session.minimum_share = saved.minimum_share
        session._set_up(cls.kind_of(saved.learner), saved.arms, saved.options, saved.feedback)
        session._warned = set(saved.warned)
        session._book = book = TicketBook(
            saved.book.key, saved.book.remember, session._places, saved.book.opened
        )
        learner = session._learner_in(saved.epoch)
        session._hold_for(learner)
        runner = session._runner_for(learner, saved.state, saved.stream)
        session._use(Prepared(saved.epoch, learner, runner), max(1, book.opened))
        left = session._last_with_room - book.opened
        if learner.reserved(saved.state, min(left, ROUNDS_AT_ONCE)) is not saved.state:
            raise ValueError("the state has too little room for the rounds to come")
        rounds = (*saved.book.open, *saved.held)
        learner.check_saved(saved.state, [row for each in rounds for row in each.plays.values()])
        session._reopen(saved.book)
        session._hold_again(saved.held)
        return session

    @classmethod
    def kind_of(cls, name: str) -> type[Learner]:
        """The learner of this name; an error if this class cannot run it."""
        if cls.only_kind is None:
            return kind_named(name, cls.is_bandit)
        if cls.only_kind.name == name:
            return cls.only_kind
        raise ValueError(f"learner is {name!r}, which is not that of {cls.__name__}")

    # -- what a subclass says

    @abstractmethod
    def _ticket_of(self, round_: int, entry: Any) -> Ticket:
        """The ticket of an open round, as `ask` returned it."""

    @abstractmethod
    def _told(self, entry: Any) -> ToldLosses:
        """What was reported of an open ticket so far."""

    @abstractmethod
    def _learn(self, runner: Runner, entry: Any, new: LossReports) -> None:
        """Learn reports of an open ticket of the present epoch, after checking the promises."""

    @abstractmethod
    def _learn_round(self, runner: Runner, finished: FinishedRound) -> None:
        """Learn all that was told of a finished round, which was delayed."""

    @abstractmethod
    def _check_reports(self, new: LossReports) -> None:
        """Check whether reports that will be learned later keep the promises."""

    @abstractmethod
    def _at_expiry(self, entry: Any) -> ToldLosses:
        """What an open ticket counts as told with when it expires."""

    @abstractmethod
    def _expire(self, runner: Runner, entry: Any) -> None:
        """Learn the default loss for what was not told of an open ticket."""

    @abstractmethod
    def _withdraw(self, entry: Any) -> None:
        """Withdraw those plays of an open ticket that were not told."""

    @abstractmethod
    def _keep(self, entry: Any, told: ToldLosses) -> None:
        """Keep what was reported of a ticket that stays open."""

    @abstractmethod
    def _close(
        self, round_: int, entry: Any, state: TicketState, told: ToldLosses | None = None
    ) -> None:
        """Close an open ticket."""

    @abstractmethod
    def _saved(self, round_: int, entry: Any, told: ToldLosses) -> SavedRound:
        """An open or held round as a record."""

    @abstractmethod
    def _restored(self, saved: SavedRound) -> Any:
        """What the book keeps for an open round, from its record."""

    @property
    def _title(self) -> str:
        """What the session calls itself; the ids of its tickets depend on it."""
        return type(self).__name__

    # -- setting up

    def _set_up(
        self,
        kind: type[Learner],
        arms: tuple[Arm, ...],
        options: Mapping[str, Any],
        feedback: FeedbackOptions,
    ) -> None:
        """Set what never changes, and what a new session starts with."""
        self.kind, self.arms = kind, arms
        self._options, self._feedback = dict(options), feedback
        self._doubles = options.get("horizon") == DOUBLING
        self._doubles_bound = options.get("max_missing", 0) is None
        self._warned: set[str] = set()
        self._scratch: Runner | None = None
        self.renew_lock()
        refuse_in_children(self)

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock, which cannot be copied; a copy has its own."""
        return {name: part for name, part in vars(self).items() if name not in ("_lock", *CHANGING)}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        vars(self).update(parts)
        self.renew_lock()
        refuse_in_children(self)

    def renew_lock(self) -> None:
        """Make the lock that each public method holds, so that threads may share the session."""
        self._lock = threading.Lock()

    @property
    def _places(self) -> int:
        """How many losses a ticket has."""
        return 1 if self.is_bandit else len(self.arms)

    def _hold_for(self, learner: Learner) -> None:
        """Set which rounds are delayed, and when untold plays expire, for this learner."""
        self._held = HeldRounds.for_learner(learner)
        feedback = self._feedback
        self._expire_after, self._default_loss = feedback.expire_after, feedback.default_loss
        if learner.window is not None:
            if feedback.expire_after is not None:
                raise ValueError(
                    f"window is {learner.window!r} and expire_after is {feedback.expire_after!r}; "
                    "a window ends the wait by itself, so give only one of them"
                )
            self._expire_after, self._default_loss = learner.window, NOTHING_CAME

    def _reopen(self, saved: SavedBook) -> None:
        """Fill the book with saved tickets, of which none that is open may have expired."""
        book, last = self._book, 0
        if self._expire_after is not None:
            last = expiring_with(book.opened, self._expire_after) - 1
        for each in saved.open:
            last = as_count(each.ticket.round, "round", last + 1, book.opened)
            if not np.isnan(each.told.losses).any():
                raise ValueError(f"the ticket {each.ticket.id!r} is open and all of it is told")
            book.open[last] = self._restored(each)
        book.closed.extend((round_, *each) for round_, each in saved.closed.items())

    def _hold_again(self, saved: Sequence[SavedRound]) -> None:
        """Hold saved rounds back again."""
        held, book = self._held, self._book
        if held is None:
            if saved:
                raise ValueError(f"{len(saved)} rounds are delayed, but this learner holds none")
            return
        for each in saved:
            round_ = as_count(each.ticket.round, "round", self._first_round, book.opened)
            if round_ in book.open or round_ in held.rounds:
                raise ValueError(f"round {round_} is delayed and is not finished")
            held.rounds[round_] = FinishedRound(self._restored(each), each.told)
        held.first = self._first_round
        held.advance(book)

    def _learner_in(self, epoch: int) -> Learner:
        return learner_in_epoch(self.kind, len(self.arms), self._options, epoch)

    def _runner_for(self, learner: Learner, state: Any, stream: Any) -> Runner:
        return runner_for(learner, state, stream)

    def _by_arm(self, values: Any) -> dict[Arm, Any]:
        return dict(zip(self.arms, values.tolist(), strict=True))

    # -- the fast path

    def _use(self, prepared: Prepared, round_: int) -> None:
        """Go on with this learner and runner, which have room for `round_`, the next one.

        Room is always made for whole portions of rounds, so that the rounds played say how much.
        """
        self._epoch, self._learner, self._runner = prepared
        self._first_round = first_round_of(self._epoch, self._options.get("horizon"))
        self._last_with_room = MOST_ROUNDS
        if type(self._learner).reserved is not Learner.reserved:
            portions = (round_ - self._first_round) // ROUNDS_AT_ONCE + 1
            self._last_with_room = self._first_round - 1 + portions * ROUNDS_AT_ONCE
        self._set_fast_path()

    def _set_fast_path(self) -> None:
        """Set the numbers that `ask` and `tell` compare with before they take the fast path."""
        last = self._last_with_room
        if self._doubles:
            last = min(last, 2 ** (self._epoch + 1) - 1)
        elif not self._was_warned_of(HorizonExceededError):
            last = min(last, getattr(self._learner, "horizon", MOST_ROUNDS))
        if self._learner.window is not None:
            last = min(last, self._first_round + self._learner.window)
        self._last_fast_round = last
        is_unit = (self._feedback.loss_range.low, self._feedback.loss_range.high) == (0.0, 1.0)
        self._least_loss = 0.0 if is_unit else math.inf  # from here to 1 no loss is converted
        self._lifetime = None if self._expire_after is None else self._expire_after + 1
        checks = self._doubles_bound or not self._was_warned_of(MissingExceededError)
        self._mode = CHECKED if checks else UNCHECKED

    # -- the slow path

    def _ask_slowly(self) -> Any:
        """Play a round that the fast path cannot play, as a transaction."""
        due = self._book.due(self._expire_after)
        prepared = self._prepare_round(due)
        self._check_promises(prepared)
        runner = prepared.runner
        drawn = self._play(runner)
        # Nothing can fail from here on.
        if runner is not self._runner:
            self._scratch = self._runner if self._runner.is_like(runner) else None
        if self._held is not None and prepared.epoch == self._epoch:
            finished, ready = self._finished_by_expiry(due)
            self._held.keep(finished, ready, self._book)
        elif self._held is not None:
            self._held.start_epoch(self._book.next_round)
        self._use(prepared, self._book.next_round)
        for round_ in due:
            self._close(round_, self._book.open[round_], TicketState.EXPIRED)
        return drawn

    def _play(self, runner: Runner) -> Any:
        """Play a round with a runner that is ready for it."""
        return runner.ask(runner.address, UNCHECKED)

    def _prepare_round(self, due: list[int]) -> Prepared:
        """Get epoch, learner and runner ready for the next round; the session stays as it is."""
        epoch = epoch_of(self._book.next_round, self._options.get("horizon"))
        if epoch != self._epoch:
            learner = self._learner_in(epoch)
            state = learner.reserved(learner.start(), ROUNDS_AT_ONCE)
            stream = self._runner.workspace.stream.copy()
            return Prepared(epoch, learner, self._runner_for(learner, state, stream))
        runner = self._runner
        if self._held is not None:
            _, ready = self._finished_by_expiry(due)
            runner = self._scratch_copy() if ready else runner
            for finished in ready.values():
                self._learn_round(runner, finished)
        elif due:
            runner = self._scratch_copy()
            for round_ in due:
                if round_ >= self._first_round:
                    self._expire(runner, self._book.open[round_])
        if self._book.next_round > self._last_with_room:
            runner = self._with_room(runner)
        return Prepared(epoch, self._learner, runner)

    def _finished_by_expiry(self, due: list[int]) -> tuple[FinishedRounds, FinishedRounds]:
        """The rounds that are finished when these expire, and those to be learned thereupon."""
        held, finished = cast(HeldRounds, self._held), {}
        for round_ in due:
            if round_ >= self._first_round:
                entry = self._book.open[round_]
                finished[round_] = FinishedRound(entry, self._at_expiry(entry))
        return finished, held.ready(finished, self._book)

    def _with_room(self, runner: Runner) -> Runner:
        """A runner whose state has room for the next rounds: this one, or a larger copy."""
        state = self._learner.reserved(runner.workspace.state, ROUNDS_AT_ONCE)
        if state is runner.workspace.state:
            return runner
        return self._runner_for(self._learner, state, runner.workspace.stream)

    def _scratch_copy(self) -> Runner:
        """A copy of the present runner, in which changes can be tried and abandoned."""
        if self._scratch is None:
            self._scratch = self._runner.copied()
        else:
            self._scratch.take_over(self._runner)
        return self._scratch

    # -- promises

    def _check_promises(self, prepared: Prepared) -> None:
        """Check whether the next round keeps what was promised, and warn of a concern."""
        horizon = getattr(prepared.learner, "horizon", MOST_ROUNDS)
        if self._book.next_round > horizon and not self._doubles:
            text = f"round {self._book.next_round} is beyond horizon={horizon}"
            self._promise_broken(text, HorizonExceededError)
        if CONCERN not in self._warned:
            state, bounds = prepared.runner.workspace.state, self._feedback.loss_range
            concern = prepared.learner.concern(state, bounds)
            if concern is not None:
                warnings.warn(concern, BelatedWarning, stacklevel=_levels_to_the_user())
                self._warned.add(CONCERN)

    def _was_warned_of(self, error: type[BelatedError]) -> bool:
        """Whether the user was warned of this broken promise, and is not to be warned again."""
        return not self._feedback.strict and error.__name__ in self._warned

    def _promise_broken(self, text: str, error: type[BelatedError], effect: str = VOID) -> None:
        """Raise the error if the session is strict, else warn the user once of its effect."""
        if self._feedback.strict:
            raise error(text)
        if not self._was_warned_of(error):
            message = f"{text}; learning goes on, {effect}"
            warnings.warn(message, BelatedWarning, stacklevel=_levels_to_the_user())
            self._warned.add(error.__name__)
            self._set_fast_path()

    # -- reports

    def _round_of(self, ticket: Ticket | str) -> int:
        """The round of a ticket, open or closed; an error if `ask` did not return it like this."""
        round_ = self._book.round_of(ticket)
        entry = self._book.open.get(round_)
        if (
            entry is not None
            and isinstance(ticket, Ticket)
            and ticket != self._ticket_of(round_, entry)
        ):
            raise UnknownTicketError(
                f"ticket {ticket.id!r} differs from the one that this learner issued"
            )
        return round_

    def _receive(self, round_: int, reports: LossReports) -> Feedback:
        """Learn what is new in the reports, which must not contradict what was reported before."""
        name, entry = self._book.id_of(round_), self._book.open.get(round_)
        closed = None if entry is not None else self._book.closed_ticket(round_)
        told = self._told(entry) if closed is None else closed.told
        new = told.new_in(reports)
        odd = None if new is reports else told.contradicted_by(reports)
        if odd is not None:
            arm = self.arms[odd if closed is None or closed.arm < 0 else closed.arm]
            bounds = self._feedback.loss_range
            both = (each.in_words(odd, bounds) for each in (told.reports(), reports))
            raise conflict(name, arm, *both)
        if closed is not None:
            return self._record_late(round_, closed, told.with_more(new))
        current, told = round_ >= self._first_round, told.with_more(new)
        state = TicketState.PENDING if np.isnan(told.losses).any() else TicketState.TOLD
        if current and self._held is None:
            self._learn(self._runner, entry, new)
        elif current:
            self._check_reports(new)
            if state is TicketState.TOLD:
                self._learn_finished({round_: FinishedRound(entry, told)})
        if state is TicketState.TOLD:
            self._close(round_, entry, state, told)
        else:
            self._keep(entry, told)
        return Feedback(name, counted=len(new.places) > 0 and current, state=state)

    def _learn_finished(self, finished: FinishedRounds) -> None:
        """Learn the held rounds that need not wait any more, now that these are finished."""
        if self._held is not None:
            ready = self._held.ready(finished, self._book)
            for each in ready.values():
                self._learn_round(self._runner, each)
            self._held.keep(finished, ready, self._book)

    def _record_late(self, round_: int, closed: ClosedTicket, told: ToldLosses) -> Feedback:
        """Keep a report for a ticket that had expired, without learning it; refuse others."""
        name, state = self._book.id_of(round_), closed.state
        refused = state is TicketState.CANCELLED
        if refused or (self._feedback.strict and state is TicketState.EXPIRED):
            raise closed_to_reports(name, state)
        self._book.change_closed(round_, closed.with_told(told))
        return Feedback(name, counted=False, state=state)


def _levels_to_the_user() -> int:
    """How many calls lie between a warning and the line outside this package that led to it."""
    level, frame = 1, sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith("belated.") and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    return level
