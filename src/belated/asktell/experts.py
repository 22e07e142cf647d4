"""Experts with ask and tell: each round weighs all experts, and the losses of all are told.

The constructors of the public classes spell out all their options, those they share included, so
that signatures and tooltips show them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsFloat, cast

import numpy as np

from belated.arrays import Counts, Floats
from belated.asktell.advised import AdvisedSession, AnyAdvice
from belated.asktell.held_rounds import FinishedRound
from belated.asktell.learner_options import plain_options
from belated.asktell.options import DOUBLING, FeedbackOptions, as_horizon, as_variant
from belated.asktell.session import Session
from belated.asktell.session_state import SavedRound
from belated.asktell.ticket_book import UNTOLD, LossReports, ToldLosses
from belated.asktell.ticket_rules import refuse_missing
from belated.checks import as_arms, as_weights, in_order
from belated.compiled.ask_tell import Runner
from belated.compiled.dispatch import NO_ARM
from belated.learners.paper.full_information import FullInformation
from belated.types import Arm, Feedback, Ticket, TicketState, Variant


@dataclass(slots=True)
class OpenRound:
    """What the book keeps for an open ticket: weights, frozen rows and told losses, by expert."""

    weights: Floats
    plays: Floats
    losses: Floats


class ExpertSession(Session):
    """What all sessions of experts share: the losses of all experts are told, piece by piece."""

    is_bandit = False

    def ask(self) -> Ticket:
        """Play a round, and return a ticket with the weights of all experts."""
        with self._lock:
            book, runner = self._book, self._runner
            round_, lifetime = book.opened + 1, self._lifetime
            if round_ <= self._last_fast_round and (
                lifetime is None or round_ - lifetime not in book.open
            ):
                runner.ask(runner.address, self._mode)
            else:
                self._ask_slowly()
            space = self._runner.workspace
            entry = OpenRound(space.prediction.q.copy(), space.plays.copy(), self._nothing_told)
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
        """Tell losses of a ticket: those of some experts by name, or those of all in order."""
        if missing is not None:
            refuse_missing(missing)
        if (loss is None) == (reward is None):
            raise ValueError("tell takes either losses or rewards")
        word, told = ("loss", loss) if reward is None else ("reward", reward)
        arms, values = self._named(told)
        losses = self._in_unit_range(word, arms, values)
        with self._lock:
            return self._receive(self._round_of(ticket), LossReports(arms, losses))

    @cached_property
    def _positions(self) -> dict[Arm, int]:
        return {arm: i for i, arm in enumerate(self.arms)}

    @cached_property
    def _nothing_told(self) -> Floats:
        """The losses of a ticket of which nothing was told; all such tickets share this array."""
        losses = np.full(len(self.arms), UNTOLD)
        losses.flags.writeable = False
        return losses

    @cached_property
    def _all(self) -> Counts:
        return np.arange(len(self.arms), dtype=np.int64)

    def _named(self, told: Any) -> tuple[Counts, Sequence[Any]]:
        """The places of the experts of which something is told, and the values told of them."""
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
        """Convert losses or rewards to losses in [0, 1], all at once if they are plain numbers."""
        losses = _plain_numbers(values) if word == "loss" else None
        if losses is not None and bool(np.all((self._least_loss <= losses) & (losses <= 1.0))):
            return losses
        convert = getattr(self._feedback.loss_range, word)
        named = zip(arms.tolist(), values, strict=True)
        return np.array([convert(v, f"the {word} of {self.arms[i]!r}") for i, v in named])

    def missing(self) -> dict[Arm, int]:
        """Return the number of outstanding losses of each expert.

        If the horizon doubles, only losses of the present epoch count.
        """
        counts = np.zeros(len(self.arms), dtype=np.int64)
        with self._lock:
            for round_, entry in self._book.open.items():
                if round_ >= self._first_round:
                    counts += np.isnan(entry.losses)
        return self._by_arm(counts)

    # -- tickets

    def _ticket_of(self, round_: int, entry: OpenRound) -> Ticket:
        return Ticket(self._book.id_of(round_), round_, weights=self._by_arm(entry.weights))

    def _told(self, entry: OpenRound) -> ToldLosses:
        return ToldLosses(entry.losses)

    def _learn(self, runner: Runner, entry: OpenRound, new: LossReports) -> None:
        # compiled code takes it for granted that arrays are of exactly this kind
        places = np.ascontiguousarray(new.places, dtype=np.int64)
        losses = np.ascontiguousarray(new.losses, dtype=np.float64)
        runner.tell(runner.address, places, entry.plays, losses)

    def _learn_round(self, runner: Runner, finished: FinishedRound) -> None:
        runner.tell(runner.address, self._all, finished.entry.plays, finished.told.losses)

    def _check_reports(self, new: LossReports) -> None:
        """Check nothing: no report of experts can break a promise."""

    def _at_expiry(self, entry: OpenRound) -> ToldLosses:
        default = cast(float, self._default_loss)
        return ToldLosses(np.where(np.isnan(entry.losses), default, entry.losses))

    def _expire(self, runner: Runner, entry: OpenRound) -> None:
        self._settle(runner, entry, cast(float, self._default_loss))

    def _withdraw(self, entry: OpenRound) -> None:
        self._settle(self._runner, entry, UNTOLD)

    def _settle(self, runner: Runner, entry: OpenRound, loss: float) -> None:
        """Learn one loss for all experts that were not told; NaN withdraws them."""
        untold = np.flatnonzero(np.isnan(entry.losses))
        self._learn(runner, entry, LossReports(untold, np.full(len(untold), loss)))

    def _keep(self, entry: OpenRound, told: ToldLosses) -> None:
        entry.losses = told.losses

    def _close(
        self, round_: int, entry: OpenRound, state: TicketState, told: ToldLosses | None = None
    ) -> None:
        losses = entry.losses if told is None else told.losses
        self._book.close(round_, (state, NO_ARM, losses, -1))

    def _saved(self, round_: int, entry: OpenRound, told: ToldLosses) -> SavedRound:
        rows = entry.plays.tolist()
        plays = {arm: tuple(rows[arm]) for arm in self._unlearned(told)}
        return SavedRound(self._ticket_of(round_, entry), plays, told)

    def _restored(self, saved: SavedRound) -> OpenRound:
        weights = np.array(list((saved.ticket.weights or {}).values()))
        if sorted(saved.plays) != self._unlearned(saved.told):
            raise ValueError(
                f"the ticket {saved.ticket.id!r} must have a play for each expert that was not told"
            )
        plays = np.zeros((len(self.arms), self._learner.row_width))
        for arm, play in saved.plays.items():
            plays[arm] = play
        return OpenRound(weights, plays, saved.told.losses)

    def _unlearned(self, told: ToldLosses) -> list[int]:
        """The experts whose losses the learner was not told: all, if rounds are delayed."""
        if self._held is not None:
            return list(range(len(self.arms)))
        untold: list[int] = np.flatnonzero(np.isnan(told.losses)).tolist()
        return untold


class DelayedExperts(ExpertSession):
    """The paper's experts, whose losses arrive at different times (th:fullinfobound).

    For practical use we advise `Experts`.

    Args:
        experts: the names of the experts, or their number.
        horizon: the number of rounds to be played. With "doubling" it need not be known: the
            learner starts again at rounds 2, 4, 8, ..., and reports of an earlier epoch are not
            learned.
        prior: the weight of each expert before the first round; uniform if None.
        variant: "paper", or "repaired", whose theorem is proven.
        loss_range: the range (low, high) of losses and rewards.
        expire_after: the number of rounds after which a loss that was not told counts as
            `default_loss`.
        default_loss: the loss of `expire_after`, in the units of `loss_range`.
        strict: raise an error when more than `horizon` rounds are played, instead of warning once.
        seed: fixes the ids of the tickets; nothing else is random here.
        remember: the number of closed tickets that are kept, to recognise repeated reports.
    """

    only_kind = FullInformation

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
            "variant": as_variant(variant, "belated.Experts(experts)"),
        }
        feedback = FeedbackOptions.checked(loss_range, expire_after, default_loss, strict)
        super().__init__(self.only_kind, experts, options, feedback, seed, remember)


class Experts(AdvisedSession, ExpertSession):
    """Experts: `ask` returns the weights of all, and `tell` reports their losses when known.

    By default it uses the learner that we advise. `belated learners` lists all others.

    Args:
        experts: the names of the experts, or their number.
        learner: the name of the learner. The practical experts, the default, need no parameters.
        loss_range: the range (low, high) of losses and rewards.
        expire_after: the number of rounds after which a loss that was not told counts as
            `default_loss`.
        default_loss: the loss of `expire_after`, in the units of `loss_range`.
        strict: raise an error when `horizon` is exceeded, instead of warning once, and when a
            report arrives after its ticket has expired.
        seed: fixes the ids of the tickets; nothing else is random here.
        remember: the number of closed tickets that are kept, to recognise repeated reports.
        options: the options of the learner. If a learner needs `horizon` and you do not give it, it
            is "doubling". All other parameters that a learner needs must be given. `policies`
            (names or a number) is for learners that take advice with each `ask`.

    Example:
        >>> experts = Experts(["ecmwf", "gfs"], seed=7)
        >>> ticket = experts.ask()
        >>> ticket.weights
        {'ecmwf': 0.5, 'gfs': 0.5}
        >>> experts.tell(ticket, {"gfs": 0.1}).counted
        True
        >>> experts.missing()
        {'ecmwf': 1, 'gfs': 0}
        >>> experts.tell(ticket, {"ecmwf": 0.2}).state.value
        'told'
        >>> {name: round(weight, 2) for name, weight in experts.weights().items()}
        {'ecmwf': 0.04, 'gfs': 0.96}
    """

    def __init__(
        self,
        experts: Sequence[Arm] | int,
        *,
        learner: str = "practical-experts",
        loss_range: Sequence[float] = (0.0, 1.0),
        expire_after: int | None = None,
        default_loss: float | None = None,
        strict: bool = False,
        seed: int | None = None,
        remember: int = 1000,
        **options: Any,
    ) -> None:
        kind = self.kind_of(learner)
        plain = plain_options(kind, as_arms(experts), options, seed)
        feedback = FeedbackOptions.checked(loss_range, expire_after, default_loss, strict)
        super().__init__(kind, experts, plain, feedback, seed, remember)

    def ask(self, *, advice: AnyAdvice | None = None) -> Ticket:
        """Play a round, and return a ticket with the weights of all experts.

        If there are policies, `advice` has the probability of each expert by each policy, as
        {policy: {expert: probability}} or as a table with a row for each policy.
        """
        if self.policies or advice is not None:
            self._advise(advice)
        return super().ask()

    @property
    def _title(self) -> str:
        return f"Experts by {self.kind.name}"


def _plain_numbers(values: Sequence[Any]) -> Floats | None:
    """The values as an array of doubles; None unless numpy takes them for numbers."""
    try:
        numbers = np.asarray(values)
    except (ValueError, TypeError):
        return None
    plain = numbers.ndim == 1 and numbers.dtype.kind in "fiub"
    return numbers.astype(np.float64) if plain else None
