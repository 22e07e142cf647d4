"""Ask and tell over any learner: tickets, time, and the promises that are watched over.

A round is one `ask`. What is told between two asks arrives at the end of the round before, so it
counts from the next ask on. Every call either does all it should or, on an error, nothing.
"""

import hashlib
import math
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np

from belated.asktell.held_rounds import NOBODY, HeldBack, Turn, Turns
from belated.asktell.options import DOUBLING, Terms
from belated.asktell.ticket_book import Closed, Reports, TicketBook, Told
from belated.checks import MOST_ROUNDS, as_arms, as_count
from belated.compiled.ask_tell import LOOK, REGARDLESS, USUAL, Hand, hand_of
from belated.learners.contract import NOTHING_CAME, Learner
from belated.numerics.random_stream import seeded
from belated.types import (
    PRACTICAL,
    Arm,
    BelatedError,
    BelatedWarning,
    ClosedTicketError,
    ConflictError,
    Feedback,
    HorizonExceededError,
    MissingExceededError,
    Ticket,
    TicketState,
    UnknownTicketError,
)

ROUNDS_AT_ONCE = 32  # for so many rounds at a time a state that grows is given room


class AskTell(ABC):
    """What all learners in the hand share; a subclass says how a round is played and told."""

    kind: type[Learner]
    practical: ClassVar[type[Learner]]  # in the place of `kind` if that variant is asked for
    is_bandit: ClassVar[bool]
    steps: str
    steps_of_any: ClassVar[str]

    def __init__(
        self,
        arms: Sequence[Arm] | int,
        options: Mapping[str, Any],
        terms: Terms,
        seed: int | None,
        remember: int,
    ) -> None:
        self.arms = as_arms(arms)
        self._options = dict(options)
        self._terms = terms
        if options.get("variant") == PRACTICAL:
            self.kind, self.steps = self.practical, self.steps_of_any
        stream = seeded(None if seed is None else as_count(seed, "seed", 0))
        origin = repr((self._called, self.arms, stream.tolist()))
        key = hashlib.sha256(origin.encode()).hexdigest()[:8]
        places = 1 if self.is_bandit else len(self.arms)
        self._book = TicketBook(key, as_count(remember, "remember", 0), places)
        self._warned: set[str] = set()
        self._spare: Hand | None = None
        learner = self._learner_of_epoch(0)
        self._held = HeldBack.by(learner)
        self._patience, self._default = terms.expire_after, terms.default_loss
        if learner.window is not None:
            if terms.expire_after is not None:
                raise ValueError(
                    f"window is {learner.window!r} and expire_after is {terms.expire_after!r}; "
                    "a window ends the wait by itself, so give only one of them"
                )
            self._patience, self._default = learner.window, NOTHING_CAME
        self._adopt(0, learner, self._hand_of(learner, self._start(learner), stream), 1)

    @abstractmethod
    def ask(self) -> Ticket:
        """Play one round: a ticket with the decision and all that was in force for it."""

    def cancel(self, ticket: Ticket | str) -> Feedback:
        """The decision was not used: stop waiting for what is still to be told of it."""
        round_ = self._found(ticket)
        name = self._book.id_of(round_)
        entry = self._book.open.get(round_)
        if entry is None:
            state = self._book.what_became_of(round_).state.value
            raise ClosedTicketError(
                f"ticket {name!r} is {state}; only a pending ticket can be cancelled"
            )
        finished = NOBODY
        if round_ >= self._first_round:
            told = self._told(entry)
            if self._held is None or np.isnan(told.losses).all():
                self._withdraw(entry)
            else:
                finished = {round_: Turn(entry, told)}
        self._close(round_, entry, TicketState.CANCELLED)
        self._hand_over(finished)
        return Feedback(name, counted=False, state=TicketState.CANCELLED)

    def weights(self) -> dict[Arm, float]:
        """The weights that the next `ask` will use; nothing changes."""
        _, _, hand = self._coming(self._book.due(self._patience))
        hand.ask(hand.address, LOOK)
        return self._by_arm(hand.table.prediction.q)

    def pending(self) -> list[Ticket]:
        """All open tickets, oldest first."""
        return [self._ticket_of(round_, entry) for round_, entry in self._book.open.items()]

    @property
    def round(self) -> int:
        """How many rounds have been played."""
        return self._book.opened

    def __repr__(self) -> str:
        played = f"{self.round} rounds played, {len(self._book.open)} tickets pending"
        return f"<{self._called} of {len(self.arms)} arms: {played}>"

    @property
    def _called(self) -> str:
        return type(self).__name__

    def to_json(self) -> str:
        """The whole learner as text, from which `belated.from_json` goes on exactly."""
        from belated.asktell.saving import dumps

        return dumps(self)

    # -- what a subclass says

    @abstractmethod
    def _ticket_of(self, round_: int, entry: Any) -> Ticket:
        """An open ticket as it was handed out."""

    @abstractmethod
    def _told(self, entry: Any) -> Told:
        """What was told of an open ticket so far."""

    @abstractmethod
    def _learn(self, hand: Hand, entry: Any, new: Reports) -> None:
        """Learn reports of an open ticket that was handed out in the present epoch."""

    @abstractmethod
    def _teach(self, hand: Hand, turn: Turn) -> None:
        """Learn all that is known of a finished round, which was held back."""

    @abstractmethod
    def _heed(self, new: Reports) -> None:
        """See whether reports that will be learned keep what was promised."""

    @abstractmethod
    def _at_expiry(self, entry: Any) -> Told:
        """What an open ticket is told with when it expires."""

    @abstractmethod
    def _expire(self, hand: Hand, entry: Any) -> None:
        """What was not told of an open ticket counts as told with the default loss."""

    @abstractmethod
    def _withdraw(self, entry: Any) -> None:
        """What was not told of an open ticket is no longer waited for."""

    @abstractmethod
    def _keep(self, entry: Any, told: Told) -> None:
        """Keep what was told of a ticket that stays open."""

    @abstractmethod
    def _close(self, round_: int, entry: Any, state: TicketState, told: Told | None = None) -> None:
        """Close an open ticket."""

    def _by_arm(self, values: Any) -> dict[Arm, Any]:
        return dict(zip(self.arms, values.tolist(), strict=True))

    # -- how time passes

    def _learner_of_epoch(self, epoch: int) -> Learner:
        """The learner; with horizon="doubling" the one whose horizon is 2^epoch."""
        options = dict(self._options)
        if options.get("variant") == PRACTICAL:
            del options["variant"]
        if options.get("horizon") == DOUBLING:
            options["horizon"] = 2**epoch
        if options.get("max_missing", 0) is None:
            options["max_missing"] = 1  # doubled when exceeded
        return self.kind(arms=len(self.arms), **options)

    def _start(self, learner: Learner) -> Any:
        return learner.reserved(learner.start(), ROUNDS_AT_ONCE)

    def _hand_of(self, learner: Learner, state: Any, stream: Any) -> Hand:
        return hand_of(learner, state, stream, self.steps)

    def _epoch_of(self, round_: int) -> int:
        """The epoch that a round belongs to: doubling, each has twice the rounds of the last."""
        return round_.bit_length() - 1 if self._options.get("horizon") == DOUBLING else 0

    def _adopt(self, epoch: int, learner: Learner, hand: Hand, round_: int) -> None:
        """Go on with this learner in this hand, which has room for the round, to be played next.

        Room is always made for whole portions of rounds, so that the saved state says how much.
        """
        self._epoch, self._learner, self._hand = epoch, learner, hand
        self._first_round = 2**epoch if self._options.get("horizon") == DOUBLING else 1
        self._last_with_room = MOST_ROUNDS
        if type(learner).reserved is not Learner.reserved:
            portions = (round_ - self._first_round) // ROUNDS_AT_ONCE + 1
            self._last_with_room = self._first_round - 1 + portions * ROUNDS_AT_ONCE
        self._note_the_usual()

    def _note_the_usual(self) -> None:
        """Note what `ask` and `tell` compare with, to see that nothing special is to be done."""
        last = self._last_with_room
        if self._options.get("horizon") == DOUBLING:
            last = min(last, 2 ** (self._epoch + 1) - 1)
        elif not self._knows_of(HorizonExceededError):
            last = min(last, getattr(self._learner, "horizon", MOST_ROUNDS))
        if self._learner.window is not None:
            last = min(last, self._first_round + self._learner.window)
        self._last_usual_round = last
        is_unit = (self._terms.loss_range.low, self._terms.loss_range.high) == (0.0, 1.0)
        self._least = 0.0 if is_unit else math.inf  # a loss from here to 1 needs no conversion
        self._lifetime = MOST_ROUNDS if self._patience is None else self._patience + 1
        finds_out = self._options.get("max_missing", 0) is None
        heeds = finds_out or not self._knows_of(MissingExceededError)
        self._how = USUAL if heeds else REGARDLESS

    def _ask_unusually(self) -> Any:
        """Play a round in which something expires, starts anew, doubles or breaks a promise."""
        due = self._book.due(self._patience)
        epoch, learner, hand = self._coming(due)
        self._watch_promises(learner, hand)
        drawn = hand.ask(hand.address, REGARDLESS)
        if hand is not self._hand:
            self._spare = self._hand if self._hand.is_like(hand) else None
        if self._held is not None and epoch == self._epoch:
            finished, ready = self._overdue(due)
            self._held.keep(finished, ready, self._book)
        elif self._held is not None:
            self._held.start_anew(self._book.next_round)
        self._adopt(epoch, learner, hand, self._book.next_round)
        for round_ in due:
            self._close(round_, self._book.open[round_], TicketState.EXPIRED)
        return drawn

    def _coming(self, due: list[int]) -> tuple[int, Learner, Hand]:
        """Epoch, learner and hand as the next round finds them; the present ones stay as is."""
        epoch = self._epoch_of(self._book.next_round)
        if epoch != self._epoch:
            learner = self._learner_of_epoch(epoch)
            stream = self._hand.table.stream.copy()
            return epoch, learner, self._hand_of(learner, self._start(learner), stream)
        hand = self._hand
        if self._held is not None:
            _, ready = self._overdue(due)
            hand = self._another_hand() if ready else hand
            for turn in ready.values():
                self._teach(hand, turn)
        elif due:
            hand = self._another_hand()
            for round_ in due:
                if round_ >= self._first_round:
                    self._expire(hand, self._book.open[round_])
        if self._book.next_round > self._last_with_room:
            hand = self._with_room(hand)
        return epoch, self._learner, hand

    def _overdue(self, due: list[int]) -> tuple[Turns, Turns]:
        """The rounds that expire, finished, and what then is to be learned; the book stays."""
        held, finished = cast(HeldBack, self._held), {}
        for round_ in due:
            if round_ >= self._first_round:
                entry = self._book.open[round_]
                finished[round_] = Turn(entry, self._at_expiry(entry))
        return finished, held.ready(finished, self._book)

    def _with_room(self, hand: Hand) -> Hand:
        """The same situation with room for the next rounds, in the same hand if it has that."""
        state = self._learner.reserved(hand.table.state, ROUNDS_AT_ONCE)
        if state is hand.table.state:
            return hand
        return self._hand_of(self._learner, state, hand.table.stream)

    def _another_hand(self) -> Hand:
        """The present situation in a hand that may be tried out, and thrown away if it fails."""
        if self._spare is None:
            self._spare = self._hand.copied()
        else:
            self._spare.become(self._hand)
        return self._spare

    # -- what was promised

    def _watch_promises(self, learner: Learner, hand: Hand) -> None:
        """Whether the coming round keeps what was promised at construction."""
        horizon = getattr(learner, "horizon", MOST_ROUNDS)
        doubling = self._options.get("horizon") == DOUBLING
        if self._book.next_round > horizon and not doubling:
            text = f"round {self._book.next_round} is beyond horizon={horizon}"
            self._broken(text, HorizonExceededError)

    def _knows_of(self, error: type[BelatedError]) -> bool:
        """Whether the user was warned of a broken promise and need not hear of it again."""
        return not self._terms.strict and error.__name__ in self._warned

    def _broken(self, text: str, error: type[BelatedError]) -> None:
        """A promise does not hold: an error if strict, else a warning, once."""
        if self._terms.strict:
            raise error(text)
        if not self._knows_of(error):
            message = f"{text}; learning goes on, the regret bound no longer holds"
            warnings.warn(message, BelatedWarning, stacklevel=_levels_to_the_user())
            self._warned.add(error.__name__)
            self._note_the_usual()

    # -- what is told

    def _found(self, ticket: Ticket | str) -> int:
        """The round of a ticket, open or closed; an error if it was never handed out like this."""
        round_ = self._book.round_of(ticket)
        entry = self._book.open.get(round_)
        if (
            entry is not None
            and isinstance(ticket, Ticket)
            and ticket != self._ticket_of(round_, entry)
        ):
            raise UnknownTicketError(f"ticket {ticket.id!r} is not as this learner handed it out")
        return round_

    def _receive(self, round_: int, reports: Reports) -> Feedback:
        """Learn what is new in the reports, which must not contradict what was told before."""
        name, entry = self._book.id_of(round_), self._book.open.get(round_)
        closed = None if entry is not None else self._book.what_became_of(round_)
        told = self._told(entry) if closed is None else closed.told
        new = told.new_in(reports)
        odd = None if new is reports else told.contradicted_by(reports)
        if odd is not None:
            arm = odd if closed is None or closed.arm < 0 else closed.arm
            raise ConflictError(
                f"ticket {name!r} was told {told.report().about(odd)} for {self.arms[arm]!r} "
                f"and now {reports.about(odd)}; the first report stands"
            )
        if closed is not None:
            return self._record_late(round_, closed, told.with_more(new))
        current, told = round_ >= self._first_round, told.with_more(new)
        state = TicketState.PENDING if np.isnan(told.losses).any() else TicketState.TOLD
        if current and self._held is None:
            self._learn(self._hand, entry, new)
        elif current:
            self._heed(new)
            if state is TicketState.TOLD:
                self._hand_over({round_: Turn(entry, told)})
        if state is TicketState.TOLD:
            self._close(round_, entry, state, told)
        else:
            self._keep(entry, told)
        return Feedback(name, counted=len(new.places) > 0 and current, state=state)

    def _hand_over(self, finished: Turns) -> None:
        """Learn what no longer has to wait, now that these rounds are finished, too."""
        if self._held is not None:
            ready = self._held.ready(finished, self._book)
            for turn in ready.values():
                self._teach(self._hand, turn)
            self._held.keep(finished, ready, self._book)

    def _record_late(self, round_: int, closed: Closed, told: Told) -> Feedback:
        """A report for a closed ticket: kept if it had expired, never learned."""
        name, state = self._book.id_of(round_), closed.state
        refused = state is TicketState.CANCELLED
        if refused or (self._terms.strict and state is TicketState.EXPIRED):
            raise ClosedTicketError(f"ticket {name!r} is {state.value}; no report counts")
        self._book.closed[round_] = tuple(closed.with_told(told))
        return Feedback(name, counted=False, state=state)


def _levels_to_the_user() -> int:
    """How many calls lie between a warning and the line outside this package that led to it."""
    level, frame = 1, sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith("belated.") and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    return level
