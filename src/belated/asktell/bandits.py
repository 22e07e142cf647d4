"""Bandits in the hand: the partially concealed and the concealed learner with ask and tell."""

from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat

import numpy as np

from belated.asktell.held_rounds import Turn
from belated.asktell.options import (
    DOUBLING,
    Terms,
    as_bound,
    as_horizon,
    as_practical,
    refuse_missing,
)
from belated.asktell.session import AskTell
from belated.asktell.ticket_book import UNTOLD, Reports, Told
from belated.checks import as_arms, as_count, as_weights
from belated.compiled.ask_tell import (
    ANY_BANDIT,
    BANDIT,
    NONE,
    NOTHING,
    REGARDLESS,
    Drawn,
    Hand,
    hand_of,
)
from belated.learners.contract import Learner
from belated.learners.paper.concealed import Concealed, GammaWeight
from belated.learners.paper.many_arms import GROUPED, ROWS, is_full, room_for_touched
from belated.learners.paper.partially_concealed import PartiallyConcealed
from belated.learners.practical.practical_bandit import PracticalBandit
from belated.types import (
    PRACTICAL,
    AnyVariant,
    Arm,
    BelatedError,
    Feedback,
    MissingExceededError,
    Ticket,
    TicketState,
)

OpenPlay = tuple[Ticket, Drawn]
TOLD = TicketState.TOLD  # looked up once: members of an enumeration are slow to reach
UNUSUAL: Drawn = (NOTHING, 0.0, ())
FIRST = np.zeros(1, dtype=np.int64)  # the only place in a bandit's ticket
_made = tuple.__new__  # a record from its parts, three times as fast as by its own constructor


class BanditInHand(AskTell):
    """What all bandits share: one arm is drawn, and only its loss is told."""

    is_bandit = True
    steps = BANDIT
    steps_of_any = ANY_BANDIT
    practical = PracticalBandit
    _groups = True  # very many arms, most of them alike; off only to measure and to test

    def outstanding(self) -> dict[Arm, int]:
        """How many own plays of each arm are unanswered, of the present epoch if doubling."""
        return self._by_arm(self._hand.table.state.outstanding)

    def missing(self) -> dict[Arm, int]:
        """Not known here: a loss of an arm that was not played is never seen to be missing."""
        raise BelatedError(
            "a bandit cannot count the missing losses of arms it did not play; "
            "outstanding() counts its own unanswered plays"
        )

    # -- tickets: the book holds (ticket, drawn) for each that is open

    def ask(self) -> Ticket:
        """Play one round: a ticket with the arm, its probability, and all that was in force."""
        book, hand = self._book, self._hand
        round_ = book.opened + 1
        drawn = UNUSUAL
        if round_ <= self._last_usual_round and round_ - self._lifetime not in book.open:
            drawn = hand.ask(hand.address, self._how)
        if drawn[0] == NOTHING:
            drawn = self._ask_unusually()
        arm, probability, _ = drawn
        parts = (f"{book.key}-{round_}", round_, self.arms[arm], probability, None)
        ticket = _made(Ticket, parts)
        book.open[round_] = (ticket, drawn)
        book.opened = round_
        return ticket

    def _ticket_of(self, round_: int, entry: OpenPlay) -> Ticket:
        return entry[0]

    def _told(self, entry: OpenPlay) -> Told:
        return Told(np.full(1, UNTOLD))

    def _tell(self, ticket: Ticket | str, loss: float, missing: int) -> Feedback:
        """A loss in [0, 1] of the ticket's arm, learned at once if nothing is unusual about it."""
        book, hand = self._book, self._hand
        try:
            round_ = ticket.round if type(ticket) is Ticket else book.round_of(ticket)
            entry = book.open.get(round_)
        except TypeError:  # a round that could not even be looked for
            entry = None
        if entry is not None and round_ >= self._first_round:
            handed_out, drawn = entry
            if (handed_out is ticket or type(ticket) is str or handed_out == ticket) and hand.tell(
                hand.address, drawn, loss, missing, self._how
            ):
                book.close(handed_out.round, (TOLD, drawn[0], loss, missing))
                return _made(Feedback, (handed_out.id, True, TOLD))
        return self._receive(self._found(ticket), Reports(FIRST, np.full(1, loss), missing))

    def _checked_missing(self, ticket: Ticket | str, missing: int | None) -> int:
        """A missing count, which cannot be more than the rounds before the ticket's."""
        round_ = self._found(ticket)
        if missing is None:
            raise ValueError("missing is None; in this setting it must be told with every loss")
        return as_count(missing, "missing", 0, round_ - 1)

    def _learn(self, hand: Hand, entry: OpenPlay, new: Reports) -> None:
        self._heed(new)
        hand.tell(hand.address, entry[1], float(new.losses[0]), new.missing, REGARDLESS)

    def _teach(self, hand: Hand, turn: Turn) -> None:
        loss, missing = float(turn.told.losses[0]), turn.told.missing
        hand.tell(hand.address, turn.entry[1], loss, missing, REGARDLESS)

    def _at_expiry(self, entry: OpenPlay) -> Told:
        return Told(np.full(1, self._default), self._missing_at_expiry(entry[1]))

    def _expire(self, hand: Hand, entry: OpenPlay) -> None:
        self._teach(hand, Turn(entry, self._at_expiry(entry)))

    def _withdraw(self, entry: OpenPlay) -> None:
        """A play that is withdrawn teaches nothing: of the paper's learners, a loss of zero."""
        loss = UNTOLD if self.steps == ANY_BANDIT else 0.0
        self._hand.tell(self._hand.address, entry[1], loss, 0, REGARDLESS)

    def _keep(self, entry: OpenPlay, told: Told) -> None:
        raise AssertionError("a bandit's ticket is told all at once")

    def _close(
        self, round_: int, entry: OpenPlay, state: TicketState, told: Told | None = None
    ) -> None:
        loss, missing = (UNTOLD, -1) if told is None else (float(told.losses[0]), told.missing)
        self._book.close(round_, (state, entry[1][0], loss, missing))

    def _missing_at_expiry(self, drawn: Drawn) -> int:
        """The missing count that an expired play is learned with, where one is needed.

        Nobody told it: the learner's own unanswered plays are the best there is.
        """
        return int(drawn[2][2]) if issubclass(self.kind, PartiallyConcealed) else -1

    # -- max_missing, promised or (if None) found out

    @property
    def _finds_out(self) -> bool:
        return self._options.get("max_missing", 0) is None

    def _coming(self, due: list[int]) -> tuple[int, Learner, Hand]:
        epoch, learner, hand = super()._coming(due)
        if is_full(hand.table.touched):
            hand = self._hand_of(learner, hand.table.state, hand.table.stream)
        if self._finds_out:
            before = int(self._hand.table.state.max_missing[0])
            most = doubled_to(before, hand.most_outstanding())
            if most != int(hand.table.state.max_missing[0]):
                hand = self._another_hand() if hand is self._hand else hand
                hand.promise(most)
        return epoch, learner, hand

    def _watch_promises(self, learner: Learner, hand: Hand) -> None:
        super()._watch_promises(learner, hand)
        if "max_missing" in self._options:
            self._watch_missing(hand, hand.most_outstanding())

    def _watch_missing(self, hand: Hand, missing: int) -> None:
        most = int(hand.table.state.max_missing[0])
        if missing > most:
            text = f"{missing} losses of one arm are missing, more than max_missing={most}"
            self._broken(text, MissingExceededError)

    def _heed(self, new: Reports) -> None:
        if "max_missing" not in self._options:
            return
        if not self._finds_out:
            self._watch_missing(self._hand, new.missing)
        elif new.missing > int(self._hand.table.state.max_missing[0]):
            self._hand.promise(doubled_to(int(self._hand.table.state.max_missing[0]), new.missing))

    # -- very many arms

    def _hand_of(self, learner: Learner, state: Any, stream: Any) -> Hand:
        can_group = self._groups and isinstance(learner, Concealed)
        touched = room_for_touched(state) if can_group else NONE
        if touched.size > 0:
            return hand_of(learner, state, stream, GROUPED, touched, ROWS)
        return super()._hand_of(learner, state, stream)

    def _group(self, wanted: bool) -> None:
        """Whether arms without a loss are kept as one group; all that changes is the time taken."""
        self._groups = wanted
        table = self._hand.table
        hand = self._hand_of(self._learner, table.state, table.stream)
        self._spare = None
        self._adopt(self._epoch, self._learner, hand, max(1, self._book.opened))


class PartiallyConcealedBandit(BanditInHand):
    """A bandit that is told, with each loss, how many losses of its arm were missing.

    Args:
        arms: their names, or how many there are.
        horizon: the number of rounds to be played; "doubling" if unknown: the learner then starts
            anew at rounds 2, 4, 8, ..., and what is told of an earlier epoch is not learned.
        max_missing: a bound on the losses of one arm that are missing at a time; None starts at 1
            and doubles when exceeded, which works but has no guarantee.
        prior: the weight of each arm before the first round; uniform if None.
        variant: "paper"; "repaired" for the guarded rate; "practical" for a learner that needs no
            promise and no prior, has no proof, and does better where the proofs are slow.
        loss_range: the (low, high) that losses and rewards lie in.
        expire_after: the rounds after which an untold play counts as `default_loss`.
        default_loss: see `expire_after`; in the units of `loss_range`.
        strict: raise, instead of warning once, when `horizon` or `max_missing` is exceeded.
        seed: fixes the draws and the ids of the tickets.
        remember: how many closed tickets are kept to recognise repeated reports.
    """

    kind = PartiallyConcealed

    def __init__(
        self,
        arms: Sequence[Arm] | int,
        *,
        horizon: int | str = DOUBLING,
        max_missing: int | None = None,
        prior: Sequence[float] | Mapping[Arm, float] | None = None,
        variant: AnyVariant = "paper",
        loss_range: Sequence[float] = (0.0, 1.0),
        expire_after: int | None = None,
        default_loss: float | None = None,
        strict: bool = False,
        seed: int | None = None,
        remember: int = 1000,
    ) -> None:
        options: dict[str, Any] = {
            "horizon": as_horizon(horizon),
            "max_missing": as_bound(max_missing),
            "prior": as_weights(prior, as_arms(arms)),
            "variant": variant,
        }
        if variant == PRACTICAL:
            options = as_practical(horizon=horizon, max_missing=max_missing, prior=prior)
        terms = Terms.checked(loss_range, expire_after, default_loss, strict)
        super().__init__(arms, options, terms, seed, remember)

    def tell(
        self,
        ticket: Ticket | str,
        loss: SupportsFloat | None = None,
        *,
        missing: int | None = None,
        reward: SupportsFloat | None = None,
    ) -> Feedback:
        """The loss of the ticket's arm, and rho_s, its missing losses when it was played."""
        if reward is not None or type(loss) is not float or not self._least <= loss <= 1.0:
            loss = self._terms.in_unit_range(loss, reward)
        if (
            type(ticket) is Ticket
            and type(ticket.round) is int
            and type(missing) is int
            and 0 <= missing < ticket.round
        ):
            return self._tell(ticket, loss, missing)
        return self._tell(ticket, loss, self._checked_missing(ticket, missing))


class ConcealedBandit(BanditInHand):
    """A bandit that is told losses and nothing else (th:concealed).

    Args:
        arms: their names, or how many there are.
        max_missing: a bound on the losses of one arm that are missing at a time; None starts at 1
            and doubles when exceeded, which works but has no guarantee.
        variant: "paper"; "repaired" for the exploration that makes the theorem true; "practical"
            for a learner that needs no promise, has no proof, and does better where they are slow.
        gamma_weight: "q" or "q+eps", the weights in eq:censoredgamma; None as the variant has it.
        loss_range: the (low, high) that losses and rewards lie in.
        expire_after: the rounds after which an untold play counts as `default_loss`.
        default_loss: see `expire_after`; in the units of `loss_range`.
        strict: raise, instead of warning once, when `max_missing` is exceeded.
        seed: fixes the draws and the ids of the tickets.
        remember: how many closed tickets are kept to recognise repeated reports.
    """

    kind = Concealed

    def __init__(
        self,
        arms: Sequence[Arm] | int,
        *,
        max_missing: int | None = None,
        variant: AnyVariant = "paper",
        gamma_weight: GammaWeight | None = None,
        loss_range: Sequence[float] = (0.0, 1.0),
        expire_after: int | None = None,
        default_loss: float | None = None,
        strict: bool = False,
        seed: int | None = None,
        remember: int = 1000,
    ) -> None:
        options: dict[str, Any] = {
            "max_missing": as_bound(max_missing),
            "variant": variant,
            "gamma_weight": gamma_weight,
        }
        if variant == PRACTICAL:
            options = as_practical(max_missing=max_missing, gamma_weight=gamma_weight)
        terms = Terms.checked(loss_range, expire_after, default_loss, strict)
        super().__init__(arms, options, terms, seed, remember)

    def tell(
        self,
        ticket: Ticket | str,
        loss: SupportsFloat | None = None,
        *,
        reward: SupportsFloat | None = None,
        missing: None = None,
    ) -> Feedback:
        """The loss of the ticket's arm has arrived."""
        if missing is not None:
            refuse_missing(missing)
        if reward is not None or type(loss) is not float or not self._least <= loss <= 1.0:
            loss = self._terms.in_unit_range(loss, reward)
        return self._tell(ticket, loss, -1)


def doubled_to(most: int, needed: int) -> int:
    """The first of most, 2 most, 4 most, ... that is at least needed."""
    while most < needed:
        most *= 2
    return most
