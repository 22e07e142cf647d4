"""Experts in the hand: the full-information learner with ask and tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsFloat, cast

import numpy as np

from belated.arrays import Counts, Floats
from belated.asktell.held_rounds import Turn
from belated.asktell.options import DOUBLING, Terms, as_horizon, as_practical, refuse_missing
from belated.asktell.session import AskTell
from belated.asktell.ticket_book import UNTOLD, Reports, Told
from belated.checks import as_arms, as_weights, in_order
from belated.compiled.ask_tell import ANY_EXPERTS, EXPERTS, NO_ARM, Hand
from belated.learners.paper.full_information import FullInformation
from belated.learners.practical.practical_experts import PracticalExperts
from belated.types import PRACTICAL, AnyVariant, Arm, Feedback, Ticket, TicketState


@dataclass(slots=True)
class OpenRound:
    """A pending ticket: its weights, what was in force for each expert, what was told so far."""

    weights: Floats
    plays: Floats
    losses: Floats


class ExpertsInHand(AskTell):
    """What all experts share: they are weighed, and the losses of all are told, piece by piece."""

    is_bandit = False
    steps = EXPERTS
    steps_of_any = ANY_EXPERTS
    practical = PracticalExperts

    def ask(self) -> Ticket:
        """Play one round: a ticket with the weights of all experts."""
        book, hand = self._book, self._hand
        round_ = book.opened + 1
        if round_ <= self._last_usual_round and round_ - self._lifetime not in book.open:
            hand.ask(hand.address, self._how)
        else:
            self._ask_unusually()
        table = self._hand.table
        entry = OpenRound(table.prediction.q.copy(), table.plays.copy(), self._nothing_told)
        book.open[round_] = entry
        book.opened = round_
        return self._ticket_of(round_, entry)

    def tell(
        self,
        ticket: Ticket | str,
        loss: Mapping[Arm, SupportsFloat] | Sequence[SupportsFloat] | None = None,
        *,
        reward: Mapping[Arm, SupportsFloat] | Sequence[SupportsFloat] | None = None,
        missing: None = None,
    ) -> Feedback:
        """The losses of some experts in the ticket's round, by name, or of all, in their order."""
        if missing is not None:
            refuse_missing(missing)
        if (loss is None) == (reward is None):
            raise ValueError("tell takes either losses or rewards")
        word, told = ("loss", loss) if reward is None else ("reward", reward)
        arms, values = self._named(told)
        losses = self._in_unit_range(word, arms, values)
        return self._receive(self._found(ticket), Reports(arms, losses))

    @cached_property
    def _positions(self) -> dict[Arm, int]:
        return {arm: i for i, arm in enumerate(self.arms)}

    @cached_property
    def _nothing_told(self) -> Floats:
        """What all tickets share of which nothing was told yet."""
        losses = np.full(len(self.arms), UNTOLD)
        losses.flags.writeable = False
        return losses

    @cached_property
    def _all(self) -> Counts:
        return np.arange(len(self.arms), dtype=np.int64)

    def _named(self, told: Any) -> tuple[Counts, Sequence[Any]]:
        """The experts of which something is told, by their places, and what is told of them."""
        if isinstance(told, Mapping):
            places = [self._position(name) for name in told]
            return np.array(places, dtype=np.int64), list(told.values())
        values = in_order(told)
        if values is None:
            raise ValueError(f"{told!r} is told; it must be a mapping from experts to numbers")
        if len(values) != len(self.arms):
            raise ValueError(f"{len(values)} losses are told; a list must have {len(self.arms)}")
        return np.arange(len(values), dtype=np.int64), values

    def _position(self, name: Arm) -> int:
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            known = ", ".join(map(repr, self.arms[:8])) + (", ..." if len(self.arms) > 8 else "")
            raise ValueError(f"{name!r} is no expert here; the experts are {known}") from None

    def _in_unit_range(self, word: str, arms: Counts, values: Sequence[Any]) -> Floats:
        """Losses or rewards of the user's as losses in [0, 1], at once if nothing is unusual."""
        losses = _plain_numbers(values) if word == "loss" else None
        if losses is not None and bool(np.all((self._least <= losses) & (losses <= 1.0))):
            return losses
        convert = getattr(self._terms.loss_range, word)
        named = zip(arms.tolist(), values, strict=True)
        return np.array([convert(v, f"the {word} of {self.arms[i]!r}") for i, v in named])

    def missing(self) -> dict[Arm, int]:
        """How many losses of each expert are still to come, of the present epoch if doubling."""
        counts = np.zeros(len(self.arms), dtype=np.int64)
        for round_, entry in self._book.open.items():
            if round_ >= self._first_round:
                counts += np.isnan(entry.losses)
        return self._by_arm(counts)

    # -- tickets

    def _ticket_of(self, round_: int, entry: OpenRound) -> Ticket:
        return Ticket(self._book.id_of(round_), round_, weights=self._by_arm(entry.weights))

    def _told(self, entry: OpenRound) -> Told:
        return Told(entry.losses)

    def _learn(self, hand: Hand, entry: OpenRound, new: Reports) -> None:
        # compiled code takes arrays to be of exactly this kind
        places = np.ascontiguousarray(new.places, dtype=np.int64)
        losses = np.ascontiguousarray(new.losses, dtype=np.float64)
        hand.tell(hand.address, places, entry.plays, losses)

    def _teach(self, hand: Hand, turn: Turn) -> None:
        hand.tell(hand.address, self._all, turn.entry.plays, turn.told.losses)

    def _heed(self, new: Reports) -> None:
        """Reports of experts say nothing of what was promised."""

    def _at_expiry(self, entry: OpenRound) -> Told:
        return Told(np.where(np.isnan(entry.losses), cast(float, self._default), entry.losses))

    def _expire(self, hand: Hand, entry: OpenRound) -> None:
        self._settle(hand, entry, cast(float, self._default))

    def _withdraw(self, entry: OpenRound) -> None:
        """A play that is withdrawn teaches nothing: of the paper's learner, a loss of zero."""
        self._settle(self._hand, entry, UNTOLD if self.steps == ANY_EXPERTS else 0.0)

    def _settle(self, hand: Hand, entry: OpenRound, loss: float) -> None:
        """One loss for all that is untold."""
        untold = np.flatnonzero(np.isnan(entry.losses))
        self._learn(hand, entry, Reports(untold, np.full(len(untold), loss)))

    def _keep(self, entry: OpenRound, told: Told) -> None:
        entry.losses = told.losses

    def _close(
        self, round_: int, entry: OpenRound, state: TicketState, told: Told | None = None
    ) -> None:
        losses = entry.losses if told is None else told.losses
        self._book.close(round_, (state, NO_ARM, losses, -1))


class DelayedExperts(ExpertsInHand):
    """Experts whose losses arrive at different times (full information, th:fullinfobound).

    Args:
        experts: their names, or how many there are.
        horizon: the number of rounds to be played; "doubling" if unknown: the learner then starts
            anew at rounds 2, 4, 8, ..., and what is told of an earlier epoch is not learned.
        prior: the weight of each expert before the first round; uniform if None.
        variant: "paper"; "repaired" for the grid that makes the theorem true; "practical" for a
            learner that needs no horizon and no prior, and does better where the proofs are slow.
        loss_range: the (low, high) that losses and rewards lie in.
        expire_after: the rounds after which an untold loss counts as `default_loss`.
        default_loss: see `expire_after`; in the units of `loss_range`.
        strict: raise, instead of warning once, when more than `horizon` rounds are played.
        seed: fixes the ids of the tickets; nothing else is random here.
        remember: how many closed tickets are kept to recognise repeated reports.
    """

    kind = FullInformation

    def __init__(
        self,
        experts: Sequence[Arm] | int,
        *,
        horizon: int | str = DOUBLING,
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
            "prior": as_weights(prior, as_arms(experts)),
            "variant": variant,
        }
        if variant == PRACTICAL:
            options = as_practical(horizon=horizon, prior=prior)
        terms = Terms.checked(loss_range, expire_after, default_loss, strict)
        super().__init__(experts, options, terms, seed, remember)


def _plain_numbers(values: Sequence[Any]) -> Floats | None:
    """Values as an array of doubles if numpy takes them for numbers of any kind."""
    try:
        numbers = np.asarray(values)
    except (ValueError, TypeError):
        return None
    plain = numbers.ndim == 1 and numbers.dtype.kind in "fiub"
    return numbers.astype(np.float64) if plain else None
