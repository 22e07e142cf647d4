"""Bandits with ask and tell: an arm is drawn in each round, and only its loss is told.

The constructors of the public classes spell out all their options, those they share included, so
that signatures and tooltips show them.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, SupportsFloat

import numpy as np

from belated.asktell.advised import AdvisedSession, AnyAdvice
from belated.asktell.contexts import PLAIN, AnyActions, AnyContext, Circumstances, ContextualSession
from belated.asktell.held_rounds import FinishedRound
from belated.asktell.learner_options import may_declare_silence, plain_options
from belated.asktell.options import DOUBLING, FeedbackOptions, as_bound, as_horizon, as_variant
from belated.asktell.runners import runner_for
from belated.asktell.session import UNTOUCHED, VOID, Prepared, Session
from belated.asktell.session_state import SavedBook, SavedRound
from belated.asktell.shares import as_minimum_share, play_by_shares
from belated.asktell.ticket_book import UNTOLD, LossReports, ToldLosses
from belated.asktell.ticket_rules import (
    NO_MISSING,
    checked_missing,
    learned_missing,
    refuse_missing,
    unit_loss,
)
from belated.checks import as_arms, as_count, as_weights, in_order
from belated.compiled.ask_tell import NOT_PLAYED, UNCHECKED, Drawn, Runner
from belated.learners.contract import Learner
from belated.learners.paper.concealed import Concealed, GammaWeight
from belated.learners.paper.many_arms import is_full
from belated.learners.paper.partially_concealed import PartiallyConcealed
from belated.types import (
    Arm,
    BelatedError,
    Feedback,
    MissingExceededError,
    Need,
    Setting,
    Ticket,
    TicketState,
    Variant,
)

OpenTicket = tuple[Any, ...]  # arm, probability, and then the frozen row of the play
TOLD = TicketState.TOLD  # looked up once: members of an enumeration are slow to reach
SLOW_PATH: Drawn = (NOT_PLAYED, 0.0)
PRACTICAL = "belated.Bandit(arms)"
FIRST = np.zeros(1, dtype=np.int64)  # the only place in a bandit's ticket
_made = tuple.__new__  # makes a record of its parts three times as fast as its own constructor


class BanditSession(Session):
    """What all bandits share.

    For an open ticket the book keeps what was drawn and the fields of the `Ticket`. Each is a plain
    tuple of numbers and text, because Python's garbage collector visits such a tuple only once. It
    would visit a `Ticket`, or a tuple that holds others, again and again, and an ask would then
    take longer the more tickets are open.
    """

    is_bandit = True
    _groups_arms = True  # many arms without a loss are kept as one group; off only for tests

    def outstanding(self) -> dict[Arm, int]:
        """Return the number of plays of each arm whose loss is outstanding.

        If the horizon doubles, only plays of the present epoch count.
        """
        with self._lock:
            return self._by_arm(self._runner.workspace.state.outstanding)

    def missing(self) -> dict[Arm, int]:
        """Raise an error: a bandit is not told whether losses of other arms are missing."""
        raise BelatedError(
            "a bandit cannot count the missing losses of arms it did not play; "
            "outstanding() counts its own unanswered plays"
        )

    # -- asking and telling

    def ask(self) -> Ticket:
        """Play a round, and return a ticket with the arm and the probability of its draw."""
        lock = self._lock
        lock.acquire()  # quicker than "with", and released all the same
        try:
            book, runner = self._book, self._runner
            round_ = book.opened + 1
            drawn, lifetime = SLOW_PATH, self._lifetime
            if round_ <= self._last_fast_round and (
                lifetime is None or round_ - lifetime not in book.open
            ):
                drawn = runner.ask(runner.address, self._mode)
            if drawn[0] == NOT_PLAYED:
                drawn = self._ask_slowly()
            name = f"{book.prefix}{round_}"
            parts = (name, round_, self.arms[drawn[0]], drawn[1], None, None, None)
            book.open[round_] = drawn
            book.tickets[round_] = parts
            book.opened = round_
        finally:
            lock.release()
        return _made(Ticket, parts)

    def _tell(self, ticket: Ticket | str, loss: float, missing: int) -> Feedback:
        """Learn a loss in [0, 1] of the ticket's arm, on the fast path if nothing is special."""
        lock = self._lock
        lock.acquire()
        try:
            book, runner = self._book, self._runner
            try:
                round_ = ticket.round if type(ticket) is Ticket else book.round_of(ticket)
                parts = book.tickets[round_]
            except (KeyError, TypeError):  # a round that is not open, or not even a number
                parts = None
            if (
                parts is not None
                and round_ >= self._first_round
                and (parts == ticket or type(ticket) is str)
            ):
                own = parts[1]  # an int, while the round that was given may equal it as a float
                entry = book.open[own]
                if runner.tell(runner.address, entry, loss, missing, self._mode):
                    del book.open[own], book.tickets[own]  # as `book.close` does it, but quicker
                    book.closed.append((own, TOLD, entry[0], loss, missing))
                    return _made(Feedback, (parts[0], True, TOLD))
            return self._receive(self._round_of(ticket), _report(loss, missing))
        finally:
            lock.release()

    def _checked_missing(self, ticket: Ticket | str, missing: int | None) -> int:
        with self._lock:
            return checked_missing(missing, self._round_of(ticket))

    # -- tickets

    def _ticket_of(self, round_: int, entry: OpenTicket) -> Ticket:
        parts = self._book.tickets.get(round_)
        if parts is not None:
            return Ticket(*parts)
        return Ticket(self._book.id_of(round_), round_, self.arms[entry[0]], entry[1])

    def _reopen(self, saved: SavedBook) -> None:
        super()._reopen(saved)
        self._book.tickets.update((each.ticket.round, tuple(each.ticket)) for each in saved.open)

    def _told(self, entry: OpenTicket) -> ToldLosses:
        return ToldLosses(np.full(1, UNTOLD))

    def _learn(self, runner: Runner, entry: OpenTicket, new: LossReports) -> None:
        self._check_reports(new)
        runner.tell(runner.address, entry, float(new.losses[0]), new.missing, UNCHECKED)

    def _learn_round(self, runner: Runner, finished: FinishedRound) -> None:
        loss, missing = float(finished.told.losses[0]), finished.told.missing
        runner.tell(runner.address, finished.entry, loss, missing, UNCHECKED)

    def _at_expiry(self, entry: OpenTicket) -> ToldLosses:
        missing = learned_missing(self._learner, None, entry[2:])
        return ToldLosses(np.full(1, self._default_loss), missing)

    def _expire(self, runner: Runner, entry: OpenTicket) -> None:
        self._learn_round(runner, FinishedRound(entry, self._at_expiry(entry)))

    def _withdraw(self, entry: OpenTicket) -> None:
        self._runner.tell(self._runner.address, entry, UNTOLD, NO_MISSING, UNCHECKED)

    def _keep(self, entry: OpenTicket, told: ToldLosses) -> None:
        raise AssertionError("a bandit's ticket is told all at once")

    def _close(
        self, round_: int, entry: OpenTicket, state: TicketState, told: ToldLosses | None = None
    ) -> None:
        loss, missing = UNTOLD, NO_MISSING
        if told is not None:
            loss, missing = float(told.losses[0]), told.missing
        self._book.close(round_, (state, entry[0], loss, missing))

    def _saved(self, round_: int, entry: OpenTicket, told: ToldLosses) -> SavedRound:
        return SavedRound(self._ticket_of(round_, entry), {entry[0]: entry[2:]}, told)

    def _restored(self, saved: SavedRound) -> OpenTicket:
        ticket, [(arm, play)] = saved.ticket, saved.plays.items()
        named = self._learner.takes_actions and ticket.arm in (ticket.probabilities or ())
        if (ticket.arm != self.arms[arm] and not named) or ticket.probability is None:
            raise ValueError(f"the ticket {ticket.id!r} is of {ticket.arm!r}")
        return arm, ticket.probability, *play

    # -- max_missing: promised, or doubled when it is exceeded

    def _prepare_round(self, due: list[int]) -> Prepared:
        prepared = super()._prepare_round(due)
        runner = prepared.runner
        if is_full(runner.workspace.touched):
            space = runner.workspace
            runner = self._runner_for(prepared.learner, space.state, space.stream)
        if self._doubles_bound:
            before = int(self._runner.workspace.state.max_missing[0])
            most = doubled_to(before, runner.most_outstanding())
            if most != int(runner.workspace.state.max_missing[0]):
                runner = self._scratch_copy() if runner is self._runner else runner
                runner.set_max_missing(most)
        return prepared._replace(runner=runner)

    def _check_promises(self, prepared: Prepared) -> None:
        super()._check_promises(prepared)
        if "max_missing" in self._options:
            self._check_missing(prepared.runner, prepared.runner.most_outstanding())

    def _check_missing(self, runner: Runner, missing: int) -> None:
        most = int(runner.workspace.state.max_missing[0])
        if missing > most:
            text = f"{missing} losses of one arm are missing, more than max_missing={most}"
            rests = getattr(self._learner, "rests_on_promise", True)
            self._promise_broken(text, MissingExceededError, VOID if rests else UNTOUCHED)

    def _check_reports(self, new: LossReports) -> None:
        if "max_missing" not in self._options:
            return
        most = int(self._runner.workspace.state.max_missing[0])
        if not self._doubles_bound:
            self._check_missing(self._runner, new.missing)
        elif new.missing > most:
            self._runner.set_max_missing(doubled_to(most, new.missing))

    # -- very many arms

    def _runner_for(self, learner: Learner, state: Any, stream: Any) -> Runner:
        return runner_for(learner, state, stream, self._groups_arms)

    def _group(self, wanted: bool) -> None:
        """Choose whether arms without a loss are kept as one group; only the time taken changes."""
        self._groups_arms = wanted
        space = self._runner.workspace
        runner = self._runner_for(self._learner, space.state, space.stream)
        self._scratch = None
        self._use(Prepared(self._epoch, self._learner, runner), max(1, self._book.opened))


class PartiallyConcealedBandit(BanditSession):
    """The paper's partially concealed bandit: each loss comes with the missing count of its arm.

    For practical use we advise `Bandit`.

    Args:
        arms: the names of the arms, or their number.
        horizon: the number of rounds to be played. With "doubling" it need not be known: the
            learner starts again at rounds 2, 4, 8, ..., and reports of an earlier epoch are not
            learned.
        max_missing: an upper bound on the number of missing losses of one arm. With None the bound
            starts at 1 and doubles when it is exceeded, which has no guarantee.
        prior: the weight of each arm before the first round; uniform if None.
        variant: "paper", or "repaired" for the guarded rate.
        loss_range: the range (low, high) of losses and rewards.
        expire_after: the number of rounds after which a play without a report counts with
            `default_loss`.
        default_loss: the loss of `expire_after`, in the units of `loss_range`.
        strict: raise an error when `horizon` or `max_missing` is exceeded, instead of warning once.
        seed: fixes the random draws and the ids of the tickets.
        remember: the number of closed tickets that are kept, to recognise repeated reports.
    """

    only_kind = PartiallyConcealed

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
            "variant": as_variant(variant, PRACTICAL),
        }
        feedback = FeedbackOptions.checked(loss_range, expire_after, default_loss, strict)
        super().__init__(self.only_kind, arms, options, feedback, seed, remember)

    def tell(
        self,
        ticket: Ticket | str,
        loss: SupportsFloat | None = None,
        *,
        missing: int | None = None,
        reward: SupportsFloat | None = None,
    ) -> Feedback:
        """Tell the loss of a ticket, and how many losses of its arm were missing in its round."""
        if reward is not None or type(loss) is not float or not self._least_loss <= loss <= 1.0:
            loss = unit_loss(self._feedback.loss_range, loss, reward)
        if (
            type(ticket) is Ticket
            and type(ticket.round) is int
            and type(missing) is int
            and 0 <= missing < ticket.round
        ):
            return self._tell(ticket, loss, missing)
        return self._tell(ticket, loss, self._checked_missing(ticket, missing))


class ConcealedBandit(BanditSession):
    """The paper's concealed bandit: it observes the losses of its own plays (th:concealed).

    For practical use we advise `Bandit`.

    Args:
        arms: the names of the arms, or their number.
        max_missing: an upper bound on the number of missing losses of one arm. With None the
            paper's learner starts at 1 and doubles the bound when it is exceeded, which has no
            guarantee. The repaired learner needs no bound, and only warns if a given one is
            exceeded.
        variant: "paper", or "repaired", whose theorem is proven and needs no `max_missing`.
        gamma_weight: "q" or "q+eps", the weights in eq:censoredgamma; None for those of the
            variant.
        skipping: whether the repaired learner stops waiting for plays that are outstanding for too
            long. This keeps its guarantee useful if some losses never arrive.
        loss_range: the range (low, high) of losses and rewards.
        expire_after: the number of rounds after which a play without a report counts with
            `default_loss`.
        default_loss: the loss of `expire_after`, in the units of `loss_range`.
        strict: raise an error when `max_missing` is exceeded, instead of warning once.
        seed: fixes the random draws and the ids of the tickets.
        remember: the number of closed tickets that are kept, to recognise repeated reports.
    """

    only_kind = Concealed

    def __init__(
        self,
        arms: Sequence[Arm] | int,
        *,
        max_missing: int | None = None,
        variant: Variant = "paper",
        gamma_weight: GammaWeight | None = None,
        skipping: bool = False,
        loss_range: Sequence[float] = (0.0, 1.0),
        expire_after: int | None = None,
        default_loss: float | None = None,
        strict: bool = False,
        seed: int | None = None,
        remember: int = 1000,
    ) -> None:
        options: dict[str, Any] = {
            "variant": as_variant(variant, PRACTICAL),
            "gamma_weight": gamma_weight,
        }
        if skipping is not False:
            options["skipping"] = skipping
        if max_missing is not None or Concealed.needs_with(options):
            options["max_missing"] = as_bound(max_missing)
        feedback = FeedbackOptions.checked(loss_range, expire_after, default_loss, strict)
        super().__init__(self.only_kind, arms, options, feedback, seed, remember)

    def tell(
        self,
        ticket: Ticket | str,
        loss: SupportsFloat | None = None,
        *,
        reward: SupportsFloat | None = None,
        missing: None = None,
    ) -> Feedback:
        """Tell the loss or the reward of a ticket."""
        if missing is not None:
            refuse_missing(missing)
        if reward is not None or type(loss) is not float or not self._least_loss <= loss <= 1.0:
            loss = unit_loss(self._feedback.loss_range, loss, reward)
        return self._tell(ticket, loss, NO_MISSING)


class Bandit(ContextualSession, AdvisedSession, BanditSession):
    """A bandit: `ask` chooses an arm, and `tell` reports its loss or reward when it is known.

    By default it uses the learner that we advise. `belated learners` lists all others.

    Args:
        arms: the names of the arms, or their number.
        learner: the name of the learner. The practical bandit, the default, needs no parameters.
        loss_range: the range (low, high) of losses and rewards.
        expire_after: the number of rounds after which a play without a report counts with
            `default_loss`.
        default_loss: the loss of a play that is never reported, in the units of `loss_range`. Some
            learners, such as the practical bandit, learn from it that silence means this loss. All
            others need `expire_after` as well.
        strict: raise an error when `horizon` or `max_missing` is exceeded, instead of warning once,
            and when a report arrives after its ticket has expired.
        seed: fixes the random draws and the ids of the tickets.
        remember: the number of closed tickets that are kept, to recognise repeated reports.
        minimum_share: the smallest probability of each arm that may be drawn.
        options: the options of the learner. `features` declares the contexts of "linear".
            `certified` says whether the regret of the practical bandit is bounded for all losses
            and delays; it is, unless there is a default loss. If a learner needs `horizon` or
            `max_missing` and you do not give it, it is "doubling" or estimated. All other
            parameters that a learner needs must be given. `policies` (names or a number) is for
            learners that take advice with each `ask`.

    Example:
        >>> bandit = Bandit(["red", "green"], seed=7)
        >>> first, second = bandit.ask(), bandit.ask()
        >>> first.arm, first.probability
        ('red', 0.5)
        >>> bandit.tell(second, reward=1.0).counted
        True
        >>> for _ in range(10):
        ...     ticket = bandit.ask()
        ...     feedback = bandit.tell(ticket, loss=0.2 if ticket.arm == "red" else 0.8)
        >>> {arm: round(weight, 2) for arm, weight in bandit.weights().items()}
        {'red': 0.99, 'green': 0.01}
        >>> bandit.outstanding()  # the first ticket is still open
        {'red': 1, 'green': 0}
    """

    def __init__(
        self,
        arms: Sequence[Arm] | int,
        *,
        learner: str = "practical-bandit",
        loss_range: Sequence[float] = (0.0, 1.0),
        expire_after: int | None = None,
        default_loss: float | None = None,
        strict: bool = False,
        seed: int | None = None,
        remember: int = 1000,
        minimum_share: float = 0.0,
        **options: Any,
    ) -> None:
        kind = self.kind_of(learner)
        self.minimum_share = as_minimum_share(minimum_share, len(as_arms(arms)))
        declares = may_declare_silence(kind)
        feedback = FeedbackOptions.checked(loss_range, expire_after, default_loss, strict, declares)
        if declares and default_loss is not None:
            options["default_loss"] = feedback.default_loss
        plain = plain_options(kind, as_arms(arms), options, seed)
        super().__init__(kind, arms, plain, feedback, seed, remember)

    def ask(
        self,
        *,
        delays: Mapping[Arm, float | None] | Sequence[float | None] | None = None,
        advice: AnyAdvice | None = None,
        context: AnyContext | None = None,
        arms: Collection[Arm] | None = None,
        actions: AnyActions | None = None,
        at: float | None = None,
    ) -> Ticket:
        """Play a round, and return a ticket with the arm and the probability of its draw.

        Args:
            delays: for learners that must know delays in advance: the delay of each arm, by name or
                in order; None for a loss that never arrives.
            advice: for learners with policies: the probability of each arm by each policy, as
                {policy: {arm: probability}} or as a table with a row for each policy.
            context: for learners with contexts: what is known about this round, by name or in the
                order of the declared features.
            arms: the arms that may be drawn; all if None.
            actions: for "linear-shared": the arms of this round with their features. They may be
                new.
            at: the time in seconds, from any fixed moment, for learners with `ages="seconds"`.
        """
        given = self._circumstances(context, arms, actions)
        if self.policies or advice is not None:
            self._advise(advice)
        if self._knows_delays:
            self._runner.workspace.scratch[0] = self._in_rounds(delays)
        elif delays is not None:
            raise ValueError(f"delays is {delays!r}; {self.kind.name} is not told delays")
        if given is PLAIN and at is None and not self._shows_shares:
            return super().ask()
        with self._lock, self._moment(at):
            return self._ask_in(given)

    def _ask_in(self, given: Circumstances) -> Ticket:
        """Play one round in these circumstances; the ticket shows the probabilities of all arms."""
        book, runner = self._book, self._runner
        round_, lifetime, drawn = book.opened + 1, self._lifetime, SLOW_PATH
        if self._takes_context:
            self._tell_learner(runner.workspace.state, given)
        if (
            self._takes_context
            and self.minimum_share == 0.0
            and round_ <= self._last_fast_round
            and (lifetime is None or round_ - lifetime not in book.open)
        ):
            drawn = runner.ask(runner.address, self._mode)
            shares = runner.workspace.prediction.q
        else:
            self._given = given
            try:
                drawn = self._ask_slowly()
            finally:
                self._given = PLAIN
            shares = self._shares
        names = given.names or self.arms
        named = dict(zip(names, shares.tolist(), strict=False))
        if given.eligible is not None:
            allowed = given.eligible.tolist()
            named = {arm: named[arm] for arm, may in zip(names, allowed, strict=False) if may}
        arm = names[drawn[0]]
        parts = (book.id_of(round_), round_, arm, drawn[1], None, given.context, named)
        book.open[round_], book.tickets[round_] = drawn, parts
        book.opened = round_
        return _made(Ticket, parts)

    def _play(self, runner: Runner) -> Any:
        eligible, least = self._given.eligible, self.minimum_share
        if least == 0.0 and (eligible is None or self._takes_context):
            drawn = super()._play(runner)
            self._shares = runner.workspace.prediction.q
        else:
            drawn, self._shares = play_by_shares(
                self._learner, runner, eligible, least, self._knows_delays
            )
        return drawn

    def weights(
        self,
        *,
        advice: AnyAdvice | None = None,
        context: AnyContext | None = None,
        arms: Collection[Arm] | None = None,
        actions: AnyActions | None = None,
    ) -> dict[Arm, float]:
        """Return the probabilities that the next `ask` with these arguments will use.

        Nothing changes. If there are policies, `advice` must be given. The arguments are those of
        `ask`.
        """
        if self.policies or advice is not None:
            self._advise(advice)
        return self._weights_in(context, arms, actions)

    def tell(
        self,
        ticket: Ticket | str,
        loss: SupportsFloat | None = None,
        *,
        reward: SupportsFloat | None = None,
        missing: int | None = None,
        at: float | None = None,
    ) -> Feedback:
        """Tell the loss or the reward of a ticket, which may be given by its id.

        A partially concealed learner also needs `missing`: how many losses of the arm were missing
        when it was played. `at` is the time in seconds, for learners with `ages="seconds"`.
        """
        if reward is not None or type(loss) is not float or not self._least_loss <= loss <= 1.0:
            loss = unit_loss(self._feedback.loss_range, loss, reward)
        absent = NO_MISSING
        if self._tells_missing:
            absent = self._checked_missing(ticket, missing)
        elif missing is not None:
            refuse_missing(missing)
        if self._held is None and at is None and not self._keeps_time:
            return self._tell(ticket, loss, absent)
        with self._lock, self._moment(at):
            return self._receive(self._round_of(ticket), _report(loss, absent))

    def outstanding(self) -> dict[Arm, int]:
        """Return the number of plays of each arm whose loss is outstanding.

        If the horizon doubles, only plays of the present epoch count.
        """
        counts = dict.fromkeys(self.arms, 0)
        with self._lock:
            for round_, entry in self._book.open.items():
                if round_ >= self._first_round:
                    arm = self._ticket_of(round_, entry).arm
                    counts[arm] = counts.get(arm, 0) + 1
        return counts

    @property
    def _title(self) -> str:
        return f"Bandit by {self.kind.name}"

    def _set_up(
        self,
        kind: type[Learner],
        arms: tuple[Arm, ...],
        options: Mapping[str, Any],
        feedback: FeedbackOptions,
    ) -> None:
        super()._set_up(kind, arms, options, feedback)
        self._given, self._shares = PLAIN, np.zeros(0)
        self._shows_shares = Need.CONTEXT in kind.needs or self.minimum_share > 0.0
        self._keeps_time = options.get("ages") == "seconds"
        self._groups_arms = self.minimum_share == 0.0
        self._tells_missing = kind.setting is Setting.PARTIALLY_CONCEALED
        self._knows_delays = Need.DELAY_AT_DECISION in kind.needs

    def _in_rounds(self, delays: Any) -> list[float]:
        """The delays of all arms, in order; infinite where nothing comes."""
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

    def _prepare_round(self, due: list[int]) -> Prepared:
        prepared = super()._prepare_round(due)
        if self._knows_delays and prepared.runner is not self._runner:
            np.copyto(prepared.runner.workspace.scratch, self._runner.workspace.scratch)
        return prepared


def _report(loss: float, missing: int) -> LossReports:
    """A report of the only place in a bandit's ticket."""
    return LossReports(FIRST, np.full(1, loss), missing)


def doubled_to(most: int, needed: int) -> int:
    """The first of most, 2 most, 4 most, ... that is at least needed."""
    while most < needed:
        most *= 2
    return most
