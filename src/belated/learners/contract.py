"""What every learner is: a frozen record of its parts, three verbs, and a state that is data.

`predict` reads the state and fills a Prediction; `commit`, with nothing in between, says that the
round was played by it and freezes what was in force; `observe` adds a loss that has arrived. A
learner draws no random numbers and reads no clock. It declares what it must know, what it is
promised and what it guarantees: that is handed to it, and nothing else.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ROUNDS, as_count
from belated.compiled.dispatch import VERBS
from belated.compiled.jit import compiled
from belated.learners.states import leaves, with_leaves
from belated.types import DELIVERIES, VARIANTS, Covers, Delivery, Need, Setting, Variant

NOTHING_CAME = 1.0  # the loss of a play whose window is over


class Prediction(NamedTuple):
    """One round's answer: the weights, the rates behind them, and the solver's multipliers.

    q is q_t, p is p_t^av over (arm, rate), which need be filled only if `detailed` is 1. The dual
    proves p optimal, and `commit` keeps it as the next round's warm start. `passes` counts the
    solver's passes over the arms; `work` and `sums` are its working space, by arm and by rate.
    """

    q: Floats
    p: Floats
    eta: Floats
    gamma: Floats
    dual: Floats
    detailed: Counts
    passes: Counts
    work: Floats
    sums: Floats

    @classmethod
    def blank(
        cls, arms: int, rates: int = 1, eta: int = 0, gamma: int = 0, dual: int = 0, work: int = 0
    ) -> "Prediction":
        """An empty prediction: so many rates in p, eta and gamma, multipliers and rows of work."""
        return cls(
            q=np.zeros(arms),
            p=np.zeros((arms, rates)),
            eta=np.zeros(eta),
            gamma=np.zeros(gamma),
            dual=np.zeros(dual),
            detailed=np.ones(1, dtype=np.int64),
            passes=np.zeros(1, dtype=np.int64),
            work=np.zeros((work, arms)),
            sums=np.zeros((2, rates)),
        )

    def brief(self) -> "Prediction":
        """The same arrays, but p need not be filled."""
        return self._replace(detailed=np.zeros(1, dtype=np.int64))


@compiled
def fill_p(prediction: Prediction) -> None:
    """p of a learner that has one rate: the weights themselves."""
    if prediction.detailed[0] == 1:
        for i in range(prediction.q.shape[0]):
            prediction.p[i, 0] = prediction.q[i]


class Verbs(NamedTuple):
    """The compiled functions of one kind of state."""

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


@dataclass(frozen=True)
class Learner(ABC):
    """The parts common to all learners; a subclass adds its own and the state they start from.

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
    source: ClassVar[str]
    dissected: ClassVar[tuple[str, ...]] = ()  # options that switch off one of its parts each
    play_width: ClassVar[int] = 2
    mixes: ClassVar[int] = 0  # strategies, whose weights are the first rows of a prediction's work
    by_arm: ClassVar[tuple[str, ...] | None] = None  # None: its arms cannot change; see with_arms
    by_number: ClassVar[tuple[str, ...]] = ()
    state: ClassVar[type]
    verbs: ClassVar[Verbs]

    def __init_subclass__(cls) -> None:
        """Tell the compiled loop which verbs belong to this learner's kind of state."""
        super().__init_subclass__()
        if not hasattr(cls, "state"):
            return
        if VERBS.setdefault(cls.state, cls.verbs) != cls.verbs:
            raise TypeError(
                f"{cls.__name__} has verbs of its own for {cls.state.__name__}; it must have a "
                "kind of state of its own, too"
            )

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

    @property
    def told_on_arrival(self) -> bool:
        """Whether every loss is told as soon as it is there."""
        return self.delivery == "own" and self.window is None

    @abstractmethod
    def start(self) -> Any:
        """The state before the first round."""

    @abstractmethod
    def blank(self) -> Prediction:
        """An empty prediction of the right shapes."""

    def reserved(self, state: Any, rounds: int) -> Any:
        """The state with room for so many more rounds; most learners need no more than they have.

        Whoever plays asks for room first, and goes on with the answer.
        """
        return state

    def with_arms(self, state: Any, kept: Sequence[int], added: int) -> Any:
        """The state of this learner with other arms: those kept, by place, then so many new ones.

        The parts of the state named in `by_arm` have a place for each arm in their last dimension;
        those of a new arm are as at the start, as are the parts in `by_number`. All else stays. Of
        arms that are left out nothing may be outstanding: whoever plays withdraws it first.
        """
        if self.by_arm is None:
            raise ValueError(f"learner {self.name} cannot change its arms")
        fresh = replace(self, arms=len(kept) + added).start()
        before, parts = leaves(state), leaves(fresh)
        for name, part in before.items():
            if name in self.by_arm:
                parts[name][..., : len(kept)] = part[..., list(kept)]
            elif name not in self.by_number:
                parts[name] = part.copy()
        return with_leaves(fresh, parts)

    def bound(self, facts: Facts) -> float | None:
        """The right-hand side of the guarantee; None if there is none in numbers."""
        return None

    def predict(self, state: Any) -> Prediction:
        """The prediction of the coming round; the state is only read."""
        prediction = self.blank()
        self.verbs.predict(state, prediction)
        return prediction

    def commit(
        self, state: Any, prediction: Prediction, arm: int = -1, delay: float = np.nan
    ) -> Floats:
        """Play the round; returns what was in force, a row for each loss that will be told.

        The delay is for learners that must know it at this time; it is infinite if nothing comes.
        """
        rows = self.arms if self.setting is Setting.FULL_INFORMATION else 1
        plays = np.full((rows, self.play_width), delay, dtype=np.float64)
        self.verbs.commit(state, prediction, arm, plays)
        return plays

    def losses(self, state: Any) -> Floats:
        """Lhat^av, the losses that have been learned, over (arm, rate)."""
        losses: Floats = state.losses[:, np.newaxis]
        return losses

    def overlap(self, state: Any) -> float:
        """The sum over rounds of what eq:censoredgamma adds up; 0 for learners without it."""
        return 0.0

    def withdraw(self, state: Any, play: Floats, arm: int) -> None:
        """The loss of this play will never be waited for again, and nothing is learned from it."""
        self.verbs.withdraw(state, play, arm)

    def observe(self, state: Any, play: Floats, arm: int, loss: float, missing: int = -1) -> None:
        """The loss of `arm` in the round that froze `play` has arrived."""
        self.verbs.observe(state, play, arm, loss, missing)


@dataclass(frozen=True)
class PaperLearner(Learner):
    """A learner of the paper: to the letter, or with what docs/errata.md has repaired."""

    variant: Variant = "paper"

    source: ClassVar[str] = "the paper, read"
    covers: ClassVar[Covers] = Covers.ANY

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant not in VARIANTS:
            known = " or ".join(map(repr, VARIANTS))
            raise ValueError(f"variant is {self.variant!r}; it must be {known}")
