"""Ask and tell over any learner: tickets, time, and the promises that are watched over.

A round is one `ask`. What is told between two asks arrives at the end of the round before, so it
counts from the next ask on. Every call either does all it should or, on an error, nothing.
"""

import hashlib
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, SupportsFloat

import numpy as np

from belated.kernels.stream import seeded
from belated.learners.learner import Learner, Prediction
from belated.tickets import Closed, Open, Report, TicketBook
from belated.types import (
    Arm,
    BelatedError,
    BelatedWarning,
    ClosedTicketError,
    ConflictError,
    Feedback,
    HorizonExceededError,
    Ticket,
    TicketState,
)
from belated.values import MOST_ROUNDS, LossRange, as_arms, as_count, as_range

DOUBLING = "doubling"


@dataclass(frozen=True)
class Terms:
    """How a learner is used, beside what it is: the options that all learners share."""

    loss_range: LossRange
    expire_after: int | None
    default_loss: float | None
    strict: bool

    @classmethod
    def checked(
        cls,
        loss_range: Sequence[float],
        expire_after: int | None,
        default_loss: SupportsFloat | None,
        strict: bool,
    ) -> "Terms":
        """The terms a user gave, in the learner's own units."""
        bounds = as_range(loss_range)
        if expire_after is None and default_loss is None:
            return cls(bounds, None, None, bool(strict))
        if expire_after is None or default_loss is None:
            raise ValueError(
                f"expire_after is {expire_after!r} and default_loss is {default_loss!r}; "
                "give both or neither"
            )
        rounds = as_count(expire_after, "expire_after", 0)
        return cls(bounds, rounds, bounds.loss(default_loss, "default_loss"), bool(strict))

    def in_unit_range(self, loss: SupportsFloat | None, reward: SupportsFloat | None) -> float:
        """A loss or a reward of the user's, exactly one of them given, as a loss in [0, 1]."""
        if loss is not None and reward is None:
            return self.loss_range.loss(loss)
        if reward is not None and loss is None:
            return self.loss_range.reward(reward)
        found = "neither" if loss is None else "both"
        raise ValueError(f"{found} of loss and reward are given; tell takes exactly one of them")


class AskTell(ABC):
    """What all learners in the hand share; a subclass says how a round is played and told."""

    kind: ClassVar[type[Learner]]

    def __init__(
        self,
        arms: Sequence[Arm] | int,
        options: Mapping[str, Any],
        terms: Terms,
        seed: int | None,
        remember: int,
    ) -> None:
        self.arms = as_arms(arms)
        self._positions = {arm: i for i, arm in enumerate(self.arms)}
        self._options = dict(options)
        self._terms = terms
        self._stream = seeded(None if seed is None else as_count(seed, "seed", 0))
        origin = repr((type(self).__name__, self.arms, self._stream.tolist()))
        key = hashlib.sha256(origin.encode()).hexdigest()[:8]
        self._book = TicketBook(key, as_count(remember, "remember", 0))
        self._warned: set[str] = set()
        self._epoch = 0
        self._learner = self._learner_of_epoch(0)
        self._state = self._learner.start()

    def ask(self) -> Ticket:
        """Play one round: a ticket with the decision and all that was in force for it."""
        due = self._book.due(self._terms.expire_after)
        epoch, learner, state = self._coming(due)
        self._watch_promises(learner, state)
        prediction = learner.predict(state)
        self._epoch, self._learner, self._state = epoch, learner, state
        for round_ in due:
            self._book.close(round_, TicketState.EXPIRED)
        ticket, plays = self._play(prediction)
        return self._book.add(Open(ticket, epoch, plays))

    def cancel(self, ticket: Ticket | str) -> Feedback:
        """The decision was not used: stop waiting for what is still to be told of it."""
        round_, entry = self._book.find(ticket)
        name = self._book.id_of(round_)
        if isinstance(entry, Closed):
            raise ClosedTicketError(
                f"ticket {name!r} is {entry.state.value}; only a pending ticket can be cancelled"
            )
        if entry.epoch == self._epoch:
            for arm, play in entry.plays.items():
                self._learner.withdraw(self._state, np.array(play), arm)
        self._book.close(round_, TicketState.CANCELLED)
        return Feedback(name, counted=False, state=TicketState.CANCELLED)

    def weights(self) -> dict[Arm, float]:
        """The weights that the next `ask` will use; nothing changes."""
        _, learner, state = self._coming(self._book.due(self._terms.expire_after))
        return self._by_arm(learner.predict(state).q)

    def pending(self) -> list[Ticket]:
        """All open tickets, oldest first."""
        return [entry.ticket.copy() for entry in self._book.open.values()]

    @property
    def round(self) -> int:
        """How many rounds have been played."""
        return self._book.opened

    def __repr__(self) -> str:
        played = f"{self.round} rounds played, {len(self._book.open)} tickets pending"
        return f"<{type(self).__name__} of {len(self.arms)} arms: {played}>"

    def to_json(self) -> str:
        """The whole learner as text, from which `belated.from_json` goes on exactly."""
        from belated.saving import dumps

        return dumps(self)

    @abstractmethod
    def _play(self, prediction: Prediction) -> tuple[Ticket, dict[int, list[float]]]:
        """Commit the round; the ticket, and what was in force by arm."""

    def _by_arm(self, values: Any) -> dict[Arm, Any]:
        return dict(zip(self.arms, values.tolist(), strict=True))

    # -- how time passes

    def _learner_of_epoch(self, epoch: int) -> Learner:
        """The learner; with horizon="doubling" the one whose horizon is 2^epoch."""
        options = dict(self._options)
        if options.get("horizon") == DOUBLING:
            options["horizon"] = 2**epoch
        if options.get("max_missing", 0) is None:
            options["max_missing"] = 1  # doubled when exceeded
        return self.kind(arms=len(self.arms), **options)

    def _coming(self, due: list[int]) -> tuple[int, Learner, Any]:
        """Epoch, learner and state as the next round finds them; the present ones stay as is."""
        doubling = self._options.get("horizon") == DOUBLING
        epoch = self._book.next_round.bit_length() - 1 if doubling else 0
        if epoch != self._epoch:
            learner = self._learner_of_epoch(epoch)
            return epoch, learner, learner.start()
        if not due:
            return epoch, self._learner, self._state
        state = self._copied_state()
        for entry in (self._book.open[round_] for round_ in due):
            if entry.epoch == epoch:
                for arm, play in entry.plays.items():
                    self._expire(state, np.array(play), arm)
        return epoch, self._learner, state

    def _copied_state(self) -> Any:
        return type(self._state)(*(part.copy() for part in self._state))

    def _expire(self, state: Any, play: Any, arm: int) -> None:
        """An expired play counts as told with the default loss."""
        assert self._terms.default_loss is not None
        self._learner.observe(state, play, arm, self._terms.default_loss)

    # -- what was promised

    def _watch_promises(self, learner: Learner, state: Any) -> None:
        """Whether the coming round keeps what was promised at construction."""
        horizon = getattr(learner, "horizon", None)
        if horizon is not None and int(state.round[0]) > horizon:
            text = f"round {self._book.next_round} is beyond horizon={horizon}"
            self._broken(text, HorizonExceededError)

    def _watch_reports(self, reports: Mapping[int, Report]) -> None:  # noqa: B027 (optional)
        """Whether reports that are about to be learned keep what was promised."""

    def _broken(self, text: str, error: type[BelatedError]) -> None:
        """A promise does not hold: an error if strict, else a warning, once."""
        if self._terms.strict:
            raise error(text)
        if error.__name__ not in self._warned:
            message = f"{text}; learning goes on, the regret bound no longer holds"
            warnings.warn(message, BelatedWarning, stacklevel=_levels_to_the_user())
            self._warned.add(error.__name__)

    # -- what is told

    def _receive(self, ticket: Ticket | str, reports: Mapping[int, Report]) -> Feedback:
        """Learn what is new in the reports, which must not contradict what was told before."""
        round_, entry = self._book.find(ticket)
        name = self._book.id_of(round_)
        for arm, report in reports.items():
            if not entry.told.get(arm, report).agrees_with(report):
                raise ConflictError(
                    f"ticket {name!r} was told {entry.told[arm]} for {self.arms[arm]!r} "
                    f"and now {report}; the first report stands"
                )
        if isinstance(entry, Closed):
            return self._record_late(name, entry, reports)
        new = {arm: report for arm, report in reports.items() if arm in entry.plays}
        current = entry.epoch == self._epoch
        if current:
            self._watch_reports(new)
        for arm, report in new.items():
            play = np.array(entry.plays.pop(arm))
            entry.told[arm] = report
            if current:
                self._learner.observe(self._state, play, arm, report.loss, report.missing)
        state = TicketState.PENDING if entry.plays else TicketState.TOLD
        if state is TicketState.TOLD:
            self._book.close(round_, state)
        return Feedback(name, counted=bool(new) and current, state=state)

    def _record_late(self, name: str, entry: Closed, reports: Mapping[int, Report]) -> Feedback:
        """A report for a closed ticket: kept if it had expired, never learned."""
        refused = entry.state is TicketState.CANCELLED
        if refused or (self._terms.strict and entry.state is TicketState.EXPIRED):
            raise ClosedTicketError(f"ticket {name!r} is {entry.state.value}; no report counts")
        entry.told.update({**reports, **entry.told})
        return Feedback(name, counted=False, state=entry.state)


def _levels_to_the_user() -> int:
    """How many calls lie between a warning and the line outside this package that led to it."""
    level, frame = 1, sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith("belated.") and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    return level


def as_horizon(horizon: int | str) -> int | str:
    """A number of rounds, or "doubling"."""
    if horizon == DOUBLING:
        return DOUBLING
    if horizon is None or isinstance(horizon, str):
        raise ValueError(f"horizon is {horizon!r}; it must be a number of rounds or 'doubling'")
    return as_count(horizon, "horizon", 1, MOST_ROUNDS)


def refuse_missing(missing: object) -> None:
    """Missing counts belong to the partially concealed setting only."""
    if missing is not None:
        raise ValueError(f"missing is {missing!r}; only a partially concealed bandit is told it")
