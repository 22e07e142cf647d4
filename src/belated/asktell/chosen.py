"""Any registered learner in the hand, chosen by its name: a bandit, or experts."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat

import numpy as np

from belated.asktell.bandits import FIRST, BanditInHand
from belated.asktell.experts import ExpertsInHand
from belated.asktell.learner_options import kind_named, plain_options
from belated.asktell.options import Terms, refuse_missing
from belated.asktell.ticket_book import Reports
from belated.checks import as_arms, as_count, in_order
from belated.compiled.ask_tell import ANY_BANDIT, ANY_EXPERTS, BANDIT, Hand, hand_of
from belated.learners.contract import Learner
from belated.types import Arm, Feedback, Need, Setting, Ticket


class Bandit(BanditInHand):
    """A bandit with any registered learner (`belated learners` lists them).

    Args:
        arms: their names, or how many there are.
        learner: the name of the learner.
        loss_range: the (low, high) that losses and rewards lie in.
        expire_after: the rounds after which an untold play counts as `default_loss`.
        default_loss: see `expire_after`; in the units of `loss_range`.
        strict: raise, instead of warning once, when a promise turns out broken.
        seed: fixes the draws and the ids of the tickets.
        remember: how many closed tickets are kept to recognise repeated reports.
        options: those of the learner. `horizon` is "doubling" and `max_missing` is found out where
            they are needed and not given; whatever else a learner must know has to be given.
    """

    def __init__(
        self,
        arms: Sequence[Arm] | int,
        *,
        learner: str,
        loss_range: Sequence[float] = (0.0, 1.0),
        expire_after: int | None = None,
        default_loss: float | None = None,
        strict: bool = False,
        seed: int | None = None,
        remember: int = 1000,
        **options: Any,
    ) -> None:
        self._choose(kind_named(learner, bandit=True))
        plain = plain_options(self.kind, as_arms(arms), options, seed)
        terms = Terms.checked(loss_range, expire_after, default_loss, strict)
        super().__init__(arms, plain, terms, seed, remember)

    def ask(
        self, *, delays: Mapping[Arm, float | None] | Sequence[float | None] | None = None
    ) -> Ticket:
        """Play one round: a ticket with the arm, its probability, and all that was in force.

        A learner that must know the delay of a play as soon as the arm is drawn is told those of
        all arms beforehand, by name or in their order; None is for a loss that will never come.
        """
        if self._knows_delays:
            self._hand.table.room[0] = self._in_rounds(delays)
        elif delays is not None:
            raise ValueError(f"delays is {delays!r}; {self.kind.name} is not told delays")
        return super().ask()

    def tell(
        self,
        ticket: Ticket | str,
        loss: SupportsFloat | None = None,
        *,
        reward: SupportsFloat | None = None,
        missing: int | None = None,
    ) -> Feedback:
        """The loss of the ticket's arm has arrived.

        If the learner is partially concealed, with it the missing losses of the arm when it was
        played.
        """
        if reward is not None or type(loss) is not float or not self._least <= loss <= 1.0:
            loss = self._terms.in_unit_range(loss, reward)
        absent = -1
        if self._tells_missing:
            absent = self._checked_missing(ticket, missing)
        elif missing is not None:
            refuse_missing(missing)
        if self._held is None:
            return self._tell(ticket, loss, absent)
        return self._receive(self._found(ticket), Reports(FIRST, np.full(1, loss), absent))

    def outstanding(self) -> dict[Arm, int]:
        """How many own plays of each arm are unanswered, of the present epoch if doubling."""
        counts = dict.fromkeys(self.arms, 0)
        for round_, (ticket, _) in self._book.open.items():
            if round_ >= self._first_round:
                counts[ticket.arm] += 1
        return counts

    @property
    def _called(self) -> str:
        return f"Bandit by {self.kind.name}"

    def _choose(self, kind: type[Learner]) -> None:
        """Take this kind of learner, and the steps for it."""
        self.kind = kind
        self.steps = BANDIT if Need.MAX_MISSING in kind.needs else ANY_BANDIT
        self._tells_missing = kind.setting is Setting.PARTIALLY_CONCEALED
        self._knows_delays = Need.DELAY_AT_DECISION in kind.needs

    def _in_rounds(self, delays: Any) -> list[float]:
        """The delays of all arms, in order; infinite if nothing comes."""
        if isinstance(delays, Mapping):
            odd = [name for name in delays if name not in self.arms]
            odd += [arm for arm in self.arms if arm not in delays]
            if odd:
                raise ValueError(
                    f"delays and arms differ at {odd[0]!r}; delays must name each arm once"
                )
            delays = [delays[arm] for arm in self.arms]
        given = in_order(delays)
        if given is None or len(given) != len(self.arms):
            raise ValueError(
                f"delays is {delays!r}; {self.kind.name} must know the delay of every arm, by name "
                "or in order, before it draws one"
            )
        window = self._learner.window
        if window is not None:
            return [float(window)] * len(given)
        return [math.inf if each is None else as_count(each, "delay", 0) for each in given]

    def _hand_of(self, learner: Learner, state: Any, stream: Any) -> Hand:
        if self._knows_delays:
            return hand_of(learner, state, stream, self.steps, rows=1)
        return super()._hand_of(learner, state, stream)

    def _coming(self, due: list[int]) -> tuple[int, Learner, Hand]:
        epoch, learner, hand = super()._coming(due)
        if self._knows_delays and hand is not self._hand:
            np.copyto(hand.table.room, self._hand.table.room)
        return epoch, learner, hand


class Experts(ExpertsInHand):
    """Experts weighed by any registered learner (`belated learners` lists them).

    Args:
        experts: their names, or how many there are.
        learner: the name of the learner.
        loss_range: the (low, high) that losses and rewards lie in.
        expire_after: the rounds after which an untold loss counts as `default_loss`.
        default_loss: see `expire_after`; in the units of `loss_range`.
        strict: raise, instead of warning once, when a promise turns out broken.
        seed: fixes the ids of the tickets; nothing else is random here.
        remember: how many closed tickets are kept to recognise repeated reports.
        options: those of the learner. `horizon` is "doubling" where it is needed and not given;
            whatever else a learner must know has to be given.
    """

    steps = ANY_EXPERTS

    def __init__(
        self,
        experts: Sequence[Arm] | int,
        *,
        learner: str,
        loss_range: Sequence[float] = (0.0, 1.0),
        expire_after: int | None = None,
        default_loss: float | None = None,
        strict: bool = False,
        seed: int | None = None,
        remember: int = 1000,
        **options: Any,
    ) -> None:
        self._choose(kind_named(learner, bandit=False))
        plain = plain_options(self.kind, as_arms(experts), options, seed)
        terms = Terms.checked(loss_range, expire_after, default_loss, strict)
        super().__init__(experts, plain, terms, seed, remember)

    @property
    def _called(self) -> str:
        return f"Experts by {self.kind.name}"

    def _choose(self, kind: type[Learner]) -> None:
        """Take this kind of learner."""
        self.kind = kind
