"""Experts in the hand: the full-information learner with ask and tell."""

from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat

from belated.asktell import DOUBLING, AskTell, Terms, as_horizon, refuse_missing
from belated.learners.full_information import FullInformation
from belated.learners.learner import Prediction
from belated.tickets import Report
from belated.types import Arm, Feedback, Ticket, Variant
from belated.values import as_arms, as_weights, in_order


class DelayedExperts(AskTell):
    """Experts whose losses arrive at different times (full information, th:fullinfobound).

    Args:
        experts: their names, or how many there are.
        horizon: the number of rounds to be played; "doubling" if unknown: the learner then starts
            anew at rounds 2, 4, 8, ..., and what is told of an earlier epoch is not learned.
        prior: the weight of each expert before the first round; uniform if None.
        variant: "paper", or "repaired" for the grid that makes the theorem true.
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
        variant: Variant = "paper",
        loss_range: Sequence[float] = (0.0, 1.0),
        expire_after: int | None = None,
        default_loss: float | None = None,
        strict: bool = False,
        seed: int | None = None,
        remember: int = 1000,
    ) -> None:
        options = {
            "horizon": as_horizon(horizon),
            "prior": as_weights(prior, as_arms(experts)),
            "variant": variant,
        }
        terms = Terms.checked(loss_range, expire_after, default_loss, strict)
        super().__init__(experts, options, terms, seed, remember)

    def tell(
        self,
        ticket: Ticket | str,
        loss: Mapping[Arm, SupportsFloat] | Sequence[SupportsFloat] | None = None,
        *,
        reward: Mapping[Arm, SupportsFloat] | Sequence[SupportsFloat] | None = None,
        missing: None = None,
    ) -> Feedback:
        """The losses of some experts in the ticket's round, by name, or of all, in their order."""
        refuse_missing(missing)
        if (loss is None) == (reward is None):
            raise ValueError("tell takes either losses or rewards")
        bounds = self._terms.loss_range
        word, convert = ("loss", bounds.loss) if reward is None else ("reward", bounds.reward)
        reports = {}
        for name, value in self._named(loss if reward is None else reward).items():
            position = self._position(name)
            reports[position] = Report(convert(value, f"the {word} of {name!r}"))
        return self._receive(ticket, reports)

    def missing(self) -> dict[Arm, int]:
        """How many losses of each expert are still to come, of the present epoch if doubling."""
        return self._by_arm(self._state.missing)

    def _named(self, told: Any) -> Mapping[Arm, Any]:
        if isinstance(told, Mapping):
            return told
        values = in_order(told)
        if values is None:
            raise ValueError(f"{told!r} is told; it must be a mapping from experts to numbers")
        if len(values) != len(self.arms):
            raise ValueError(f"{len(values)} losses are told; a list must have {len(self.arms)}")
        return dict(zip(self.arms, values, strict=True))

    def _position(self, name: Arm) -> int:
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            known = ", ".join(map(repr, self.arms[:8])) + (", ..." if len(self.arms) > 8 else "")
            raise ValueError(f"{name!r} is no expert here; the experts are {known}") from None

    def _play(self, prediction: Prediction) -> tuple[Ticket, dict[int, list[float]]]:
        plays = self._learner.commit(self._state, prediction)
        round_ = self._book.next_round
        ticket = Ticket(self._book.id_of(round_), round_, weights=self._by_arm(prediction.q))
        return ticket, dict(enumerate(plays.tolist()))
