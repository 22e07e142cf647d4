"""Bandits in the hand: the partially concealed and the concealed learner with ask and tell."""

from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat

from belated.asktell import DOUBLING, AskTell, Terms, as_horizon, refuse_missing
from belated.kernels.stream import draw
from belated.learners.concealed import Concealed, GammaWeight
from belated.learners.learner import Learner, Prediction
from belated.learners.partially_concealed import PartiallyConcealed
from belated.tickets import Report
from belated.types import Arm, BelatedError, Feedback, MissingExceededError, Ticket, Variant
from belated.values import MOST_ROUNDS, as_arms, as_count, as_weights


class Bandit(AskTell):
    """What the two bandits share: one arm is drawn, and only its loss is told."""

    def outstanding(self) -> dict[Arm, int]:
        """How many own plays of each arm are unanswered, of the present epoch if doubling."""
        return self._by_arm(self._state.outstanding)

    def missing(self) -> dict[Arm, int]:
        """Not known here: a loss of an arm that was not played is never seen to be missing."""
        raise BelatedError(
            "a bandit cannot count the missing losses of arms it did not play; "
            "outstanding() counts its own unanswered plays"
        )

    def _play(self, prediction: Prediction) -> tuple[Ticket, dict[int, list[float]]]:
        arm = int(draw(self._stream, prediction.q))
        plays = self._learner.commit(self._state, prediction, arm)
        round_ = self._book.next_round
        probability = float(prediction.q[arm])
        ticket = Ticket(self._book.id_of(round_), round_, self.arms[arm], probability)
        return ticket, {arm: plays[0].tolist()}

    def _report(self, ticket: Ticket | str, report: Report) -> Feedback:
        _, entry = self._book.find(ticket)
        return self._receive(ticket, {entry.arms[0]: report})

    # -- max_missing, promised or (if None) found out

    @property
    def _finds_out(self) -> bool:
        return self._options["max_missing"] is None

    def _coming(self, due: list[int]) -> tuple[int, Learner, Any]:
        epoch, learner, state = super()._coming(due)
        if self._finds_out:
            before = int(self._state.max_missing[0])
            most = doubled_to(before, int(state.outstanding.max()))
            if most != int(state.max_missing[0]):
                state = self._copied_state() if state is self._state else state
                state.max_missing[0] = most
        return epoch, learner, state

    def _watch_promises(self, learner: Learner, state: Any) -> None:
        super()._watch_promises(learner, state)
        self._watch_missing(state, int(state.outstanding.max()))

    def _watch_missing(self, state: Any, missing: int) -> None:
        most = int(state.max_missing[0])
        if missing > most:
            text = f"{missing} losses of one arm are missing, more than max_missing={most}"
            self._broken(text, MissingExceededError)


class PartiallyConcealedBandit(Bandit):
    """A bandit that is told, with each loss, how many losses of its arm were missing.

    Args:
        arms: their names, or how many there are.
        horizon: the number of rounds to be played; "doubling" if unknown: the learner then starts
            anew at rounds 2, 4, 8, ..., and what is told of an earlier epoch is not learned.
        max_missing: a bound on the losses of one arm that are missing at a time; None starts at 1
            and doubles when exceeded, which works but has no guarantee.
        prior: the weight of each arm before the first round; uniform if None.
        variant: "paper", or "repaired" for the guarded rate.
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
            "max_missing": as_bound(max_missing),
            "prior": as_weights(prior, as_arms(arms)),
            "variant": variant,
        }
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
        value = self._terms.in_unit_range(loss, reward)
        round_, _ = self._book.find(ticket)
        if missing is None:
            raise ValueError("missing is None; in this setting it must be told with every loss")
        return self._report(ticket, Report(value, as_count(missing, "missing", 0, round_ - 1)))

    def _watch_reports(self, reports: Mapping[int, Report]) -> None:
        told = max((report.missing for report in reports.values()), default=0)
        if self._finds_out:
            self._state.max_missing[0] = doubled_to(int(self._state.max_missing[0]), told)
        else:
            self._watch_missing(self._state, told)

    def _expire(self, state: Any, play: Any, arm: int) -> None:
        """Nobody told the missing count: the learner's own unanswered plays are the best it has."""
        assert self._terms.default_loss is not None
        self._learner.observe(state, play, arm, self._terms.default_loss, int(play[2]))


class ConcealedBandit(Bandit):
    """A bandit that is told losses and nothing else (th:concealed).

    Args:
        arms: their names, or how many there are.
        max_missing: a bound on the losses of one arm that are missing at a time; None starts at 1
            and doubles when exceeded, which works but has no guarantee.
        variant: "paper", or "repaired" for the exploration that makes the theorem true.
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
        variant: Variant = "paper",
        gamma_weight: GammaWeight | None = None,
        loss_range: Sequence[float] = (0.0, 1.0),
        expire_after: int | None = None,
        default_loss: float | None = None,
        strict: bool = False,
        seed: int | None = None,
        remember: int = 1000,
    ) -> None:
        options = {
            "max_missing": as_bound(max_missing),
            "variant": variant,
            "gamma_weight": gamma_weight,
        }
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
        refuse_missing(missing)
        return self._report(ticket, Report(self._terms.in_unit_range(loss, reward)))


def doubled_to(most: int, needed: int) -> int:
    """The first of most, 2 most, 4 most, ... that is at least needed."""
    while most < needed:
        most *= 2
    return most


def as_bound(max_missing: int | None) -> int | None:
    """A bound on the missing losses, or None to find it out."""
    return None if max_missing is None else as_count(max_missing, "max_missing", 0, MOST_ROUNDS)
