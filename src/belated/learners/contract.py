"""The learner contract: what a learner declares, which functions it has, and who calls them when.

A learner is a frozen dataclass of options. Everything that changes while it plays is in its state,
a NamedTuple of arrays and of other such records (see `belated.learners.states`). Four compiled
functions, its verbs, work on the state. In every round `predict` reads the state and fills a
`Prediction`, and `commit` then plays the round and freezes what later losses need to know about it.
When a loss arrives `observe` adds it to the state; if it will never arrive, `withdraw` says so.

A learner draws no random numbers and reads no clock. It declares what it must know beforehand
(`needs`), in which order it must be told losses (`deliveries`) and what it guarantees, and it is
given that and nothing else.

What `commit` may assume of the prediction that it is given: `predict` made it from this very state,
and no other verb was called in between. So `commit` may copy from it whatever `predict` worked out,
such as the solver's multipliers. There is one exception. If somebody else drew the arm, as when a
logged game is replayed or another process of the service decided, then q[arm] holds the probability
with which the arm was really drawn. A loss must be divided by that probability (see `Driver.play`).
All other numbers of the prediction are still those that `predict` filled in, and a learner that has
several ways to play a round was asked for the one that was drawn from
(`belated.learners.branches`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ROUNDS, LossRange, as_count
from belated.compiled.dispatch import VERBS
from belated.compiled.lean import SELDOM
from belated.learners import states
from belated.types import DELIVERIES, VARIANTS, Covers, Delivery, Need, Origin, Setting, Variant

FROM_MEMORY = " (constants from memory)"
NOTHING_CAME = 1.0  # the loss of a play whose window is over
UNIT = LossRange()
ROUNDING = 1e-12  # of a sum, for each of its terms


class NoInfo(NamedTuple):
    """The info of a learner that has nothing to add to its weights and rates."""


NO_INFO = NoInfo()


class SolverInfo(NamedTuple):
    """The info of a learner that solves for its weights.

    dual has the solver's multipliers, which prove q optimal and are the next round's warm start.
    passes is the number of passes over the arms that the solver made, and work its working space.
    """

    dual: Floats
    passes: Counts
    work: Floats

    @classmethod
    def blank(cls, arms: int, dual: int, work: int = 0) -> "SolverInfo":
        """An empty record for so many multipliers and so many rows of working space."""
        return cls(np.zeros(dual), np.zeros(1, dtype=np.int64), np.zeros((work, arms)))


class Prediction(NamedTuple):
    """What `predict` fills in for one round: the weights, the rates, and the learner's own info.

    q holds the weights q_t and is all that must be filled. eta and gamma hold the learning rates.
    p holds p_t^av over (arm, rate) and has columns only if the learner weighs a grid of rates; then
    it must be filled if detailed[0] is 1. info is a NamedTuple of the learner's own: results that
    `commit` keeps, numbers that explain the weights, and working space. If the weights are a
    mixture of several strategies, info has a field `strategies` with the weights of each in a row,
    and a trace then adds up what each strategy has lost. If info also has a field `multiples`, with
    a number for each strategy, a trace adds up the losses times that number and each rate in eta.
    """

    q: Floats
    p: Floats
    eta: Floats
    gamma: Floats
    detailed: Counts
    info: Any

    @classmethod
    def blank(
        cls, arms: int, rates: int = 0, eta: int = 0, gamma: int = 0, info: Any = NO_INFO
    ) -> "Prediction":
        """An empty prediction, with so many columns in p and so many numbers in eta and gamma."""
        return cls(
            q=np.zeros(arms),
            p=np.zeros((arms, rates)),
            eta=np.zeros(eta),
            gamma=np.zeros(gamma),
            detailed=np.ones(1, dtype=np.int64),
            info=info,
        )

    def brief(self) -> "Prediction":
        """A prediction with these arrays in which p need not be filled."""
        return self._replace(detailed=np.zeros(1, dtype=np.int64))


class Verbs(NamedTuple):
    """The four compiled functions that work on one kind of state."""

    predict: Callable[[Any, Prediction], None]
    commit: Callable[[Any, Prediction, int, Floats], None]
    withdraw: Callable[[Any, Floats, int], None]
    observe: Callable[[Any, Floats, int, float, int], None]


class Facts(NamedTuple):
    """What a bound may depend on: the size of a game, its delays, and the loss of the best arm.

    A loss is missing until the learner is told it, whenever it arrives; total_delay is the sum over
    rounds of the largest missing count. longest_wait is how long a loss takes at most or, if it
    does not come within the game, how many rounds are left after its own.
    """

    arms: int
    rounds: int
    most_missing: int
    total_delay: int
    best_loss: float
    longest_wait: int = 0


class RunOutcome(Protocol):
    """What a certificate may use of a run that is over; a `Trace` has it."""

    @property
    def loss(self) -> float:
        """The learner's expected loss, sum_t <q_t, l_t>."""

    @property
    def strategies(self) -> Floats:
        """sum_t <q_t^m, l_t> of each strategy in the learner's info, if it has any."""

    @property
    def weighed(self) -> Floats:
        """sum_t eta_t(j) f_t(m) <q_t^m, l_t>, with multiples f in the learner's info, if any."""

    @property
    def eta(self) -> Floats:
        """The rates of the last prediction."""

    @property
    def info(self) -> Any:
        """The learner's info in the last prediction."""


class GameOutcome(Protocol):
    """What a certificate may use of the game; a `GameSums` has it."""

    @property
    def losses(self) -> Floats:
        """The total loss of each arm."""

    @property
    def caps(self) -> Counts | None:
        """The values that rho_t^max takes in the game, in order."""

    @property
    def charged(self) -> Floats | None:
        """The sums of (1 + rho_t) l_t by arm, one row for each of these values."""


class Certificate(NamedTuple):
    """What a run proves about its own regret: a bound on the regret against each arm.

    `holds` is False only if the run contradicts the proof, which means that the code is wrong.
    """

    bounds: Floats
    holds: bool = True


class TrustStanding(NamedTuple):
    """Where the account of Theorem 4 stands (docs/beyond-the-paper.md), after some rounds.

    Of `rounds` rounds the fallback played `by_fallback`, and all others were trusted. `regrets` has
    C_t(u) of the coming round for each arm, `budget` its b_t, and `trusted` says whether that round
    is trusted. `last_budget` is b_t of the last round played. `overlap` and `most_waiting` are A
    and W of (11) of docs/theory-practical.md, over the rounds of the fallback.
    """

    rounds: int
    by_fallback: int
    regrets: Floats
    budget: float
    last_budget: float
    trusted: bool
    overlap: float
    most_waiting: float

    @property
    def largest(self) -> float:
        """The largest C_t(u) of all arms."""
        return float(self.regrets.max())

    @property
    def share(self) -> float:
        """The share of trusted rounds; 1 before the first round."""
        return 1.0 - self.by_fallback / max(self.rounds, 1)

    @property
    def holds(self) -> bool:
        """Whether no C_t(u) is above b + 1, which Theorem 4 proves of every run.

        The numbers in the account are sums of up to as many terms as there are rounds, and may be
        wrong by their rounding.
        """
        return self.largest <= self.last_budget + 1.0 + ROUNDING * max(1, self.rounds)


@dataclass(frozen=True)
class Learner(ABC):
    """The options common to all learners; a subclass adds its own, its state and its verbs.

    `delivery` says when a loss is told: "own", when it arrives; "padded", when all losses of its
    round have arrived; "in order", when moreover those of all rounds before have. With a `window`
    a loss is told exactly so many rounds later, and as 1 if it has not arrived by then.
    """

    arms: int
    _: KW_ONLY
    delivery: Delivery | None = None
    window: int | None = None

    name: ClassVar[str]
    setting: ClassVar[Setting]
    needs: ClassVar[tuple[Need, ...]] = ()
    deliveries: ClassVar[tuple[Delivery, ...]] = DELIVERIES
    guarantee: ClassVar[str]
    covers: ClassVar[Covers] = Covers.NOTHING
    origin: ClassVar[Origin] = Origin.OURS  # of the constants in the guarantee
    source: ClassVar[str]
    play_width: ClassVar[int] = 2
    has_branches: ClassVar[bool] = False  # see belated.learners.branches
    can_change_arms: ClassVar[bool] = False  # see with_arms
    # Whether arms may be left out of a draw. They may where what is known of an arm comes from its
    # own plays only; elsewhere an arm that could not be drawn would count as one without loss.
    can_leave_arms_out: ClassVar[bool] = False
    state: ClassVar[type]
    verbs: ClassVar[Verbs]
    seldom: ClassVar[tuple[str, ...]] = ()  # parts of state and info; see belated.compiled.lean

    def __init_subclass__(cls) -> None:
        """Tell compiled code which verbs belong to this learner's kind of state."""
        super().__init_subclass__()
        if not hasattr(cls, "state"):
            return
        if VERBS.setdefault(cls.state, cls.verbs) != cls.verbs:
            raise TypeError(
                f"{cls.__name__} has verbs of its own for {cls.state.__name__}; it must have a "
                "kind of state of its own, too"
            )
        SELDOM[cls.state] = cls.seldom

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", as_count(self.arms, "arms", 1))
        if self.delivery is None:
            object.__setattr__(self, "delivery", self.deliveries[0])
        if self.delivery not in self.deliveries:
            known = " or ".join(map(repr, self.deliveries))
            raise ValueError(f"delivery is {self.delivery!r}; for {self.name} it must be {known}")
        if self.window is not None:
            self._check_count("window", 0)

    def _check_count(self, option: str, least: int) -> None:
        """Make sure that an option is a whole number of rounds or more, not below the least."""
        count = as_count(getattr(self, option), option, least, MOST_ROUNDS)
        object.__setattr__(self, option, count)

    @classmethod
    def stated_guarantee(cls) -> str:
        """The guarantee as it is shown to users, with a mark if its constants are from memory."""
        return cls.guarantee + (FROM_MEMORY if cls.origin is Origin.MEMORY else "")

    @classmethod
    def needs_with(cls, options: Mapping[str, Any]) -> tuple[Need, ...]:
        """What this learner must know beforehand if it is made with these options."""
        return cls.needs

    @property
    def told_on_arrival(self) -> bool:
        """Whether every loss is told as soon as it is there."""
        return self.delivery == "own" and self.window is None

    @property
    def row_width(self) -> int:
        """How many numbers `commit` freezes for each loss; for most learners play_width.

        A learner overrides this if the number depends on its options.
        """
        return self.play_width

    @property
    def takes_advice(self) -> bool:
        """Whether policies give advice before each round, which `advise` puts into the state."""
        return Need.ADVICE in self.needs

    def advise(self, state: Any, advice: Floats) -> None:
        """Put what each policy advises for the coming round into the state, as a row each.

        Advice that was checked is taken as it is. It stands until there is other advice.
        """
        if not self.takes_advice:
            raise ValueError(f"learner {self.name} takes no advice")
        if advice.shape != state.advice.shape:
            raise ValueError(
                f"advice has the shape {advice.shape}; {self.name} must have a row for each policy "
                f"and a number for each arm, {state.advice.shape}"
            )
        state.advice[...] = advice

    @property
    def takes_context(self) -> bool:
        """Whether a context is told before each round, which `consider` puts into the state."""
        return Need.CONTEXT in self.needs

    @property
    def takes_actions(self) -> bool:
        """Whether the arms of each round have features, which `consider` puts into the state."""
        return False

    def consider(self, state: Any, context: Floats | None, eligible: Floats | None = None) -> None:
        """Put the context of the coming round into the state, and which arms may be drawn in it.

        The context has a number for each coordinate, infinite where one is not known; None if there
        is no context. `eligible` has 1 for each arm that may be drawn, else 0; None if all may.
        Both stand until they are told again.
        """
        raise ValueError(f"learner {self.name} takes no context")

    @property
    def keeps_time(self) -> bool:
        """Whether the ages of plays are counted in seconds, for which `tick` tells the time."""
        return False

    def tick(self, state: Any, seconds: float) -> None:
        """Tell the time at which the next round is played, or the next loss arrives.

        It stands until it is told again. As long as no one tells it, a round takes a second.
        """
        raise ValueError(f"learner {self.name} is not told the time")

    @abstractmethod
    def start(self) -> Any:
        """The state before the first round."""

    @abstractmethod
    def blank(self) -> Prediction:
        """An empty prediction of the right shapes."""

    def reserved(self, state: Any, rounds: int) -> Any:
        """The state with room for so many more rounds; most learners need no more than they have.

        A driver asks for room before it plays, and goes on with the state that is returned.
        """
        return state

    def with_later_parts(self, parts: Mapping[str, states.Array]) -> dict[str, states.Array]:
        """The parts of a saved state, by name, with those that a later release has added.

        A learner overrides this if states that were saved without these parts are still read.
        """
        return dict(parts)

    def check_saved(self, state: Any, plays: Iterable[Sequence[float]]) -> None:
        """Refuse a saved state, or saved plays, whose indices point outside of its arrays.

        Compiled code does not check where it reads and writes. Most learners keep no indices.
        """
        return

    def with_arms(self, state: Any, kept: Sequence[int], added: int) -> Any:
        """The state of this learner with other arms: those kept, by place, then so many new ones.

        The types of the state's fields say which arrays have a place for each arm and which start
        afresh (see `belated.learners.states`); all others stay. No play of an arm that is left out
        may be outstanding: the driver withdraws these plays first.
        """
        if not self.can_change_arms:
            raise ValueError(f"learner {self.name} cannot change its arms")
        fresh = replace(self, arms=len(kept) + added).start()
        return states.with_arms(state, fresh, kept)

    def concern(self, state: Any, bounds: LossRange = UNIT) -> str | None:
        """A sentence about something that its user should change; None if there is nothing.

        Losses in it are in the user's range. It is asked for now and then, not in every round.
        """
        return None

    def declare_silence(self, state: Any, default_loss: float | None) -> None:
        """From now on a play that never reports has lost this; None if no one knows.

        A learner with an option `default_loss` overrides this; others do not ask what silence
        means.
        """
        return

    def weights_among(self, state: Any, prediction: Prediction, eligible: Floats) -> Floats:
        """The weights in proportion to which one of the eligible arms is drawn.

        `eligible` has 1 for each arm that may be drawn, else 0; the weights of others do not count.
        A learner that plays the best arm overrides this, as the best of these has weight 0 else.
        """
        return prediction.q

    def bound(self, facts: Facts) -> float | None:
        """The right-hand side of the guarantee; None if there is none in numbers."""
        return None

    def certificate(self, run: RunOutcome, game: GameOutcome) -> Certificate | None:
        """What a run of this learner proves about its own regret; None if it proves nothing."""
        return None

    def trust(self, state: Any) -> TrustStanding | None:
        """Where the account of certified trust stands; None if nothing is certified."""
        return None

    def predict(self, state: Any) -> Prediction:
        """The prediction of the coming round; the state is only read."""
        prediction = self.blank()
        self.verbs.predict(state, prediction)
        return prediction

    def commit(
        self, state: Any, prediction: Prediction, arm: int = -1, delay: float = np.nan
    ) -> Floats:
        """Play the round; returns its play: one row of frozen numbers for each loss to be told.

        The delay is for learners that must know it at this time; it is infinite if nothing comes.
        """
        rows = self.arms if self.setting is Setting.FULL_INFORMATION else 1
        plays = np.full((rows, self.row_width), delay, dtype=np.float64)
        self.verbs.commit(state, prediction, arm, plays)
        return plays

    def losses(self, state: Any) -> Floats:
        """Lhat^av, the losses that have been learned, over (arm, rate)."""
        losses: Floats = state.losses[:, np.newaxis]
        return losses

    def own_missing(self, play: Sequence[float] | Floats) -> int:
        """How many earlier plays of the same arm were unanswered when this row was frozen.

        A learner in the partially concealed setting is told missing counts. Where no one tells one,
        this count of the learner's own stands in for it. It is -1 in all other settings.
        """
        return -1

    def withdraw(self, state: Any, play: Floats, arm: int) -> None:
        """The loss of this play will not be told, and nothing is learned from it."""
        self.verbs.withdraw(state, play, arm)

    def observe(self, state: Any, play: Floats, arm: int, loss: float, missing: int = -1) -> None:
        """The loss of `arm` in the round that froze `play` has arrived."""
        self.verbs.observe(state, play, arm, loss, missing)

    def from_version_3(self, parts: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """The numbers of a saved state of format version 3, in the order of this version's leaves.

        States of that version were flat, with other names. The numbers of all parts that are
        returned, one part after the other, are those of all leaves, one leaf after the other. A
        learner that keeps its arrays in another order since then overrides this.
        """
        return dict(parts)


@dataclass(frozen=True)
class PaperLearner(Learner):
    """A learner of the paper: to the letter, or with what docs/errata.md has repaired."""

    variant: Variant = "paper"

    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "the paper, read"
    covers: ClassVar[Covers] = Covers.ANY

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant not in VARIANTS:
            known = " or ".join(map(repr, VARIANTS))
            raise ValueError(f"variant is {self.variant!r}; it must be {known}")
