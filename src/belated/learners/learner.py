"""What every learner is: a frozen record of its parts, three verbs, and a state that is data.

`predict` reads the state and fills a Prediction; `commit`, with nothing in between, says that the
round was played by it and freezes what was in force; `observe` adds a loss that has arrived. A
learner draws no random numbers and reads no clock.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.kernels.dispatch import VERBS
from belated.types import VARIANTS, Setting, Variant
from belated.values import as_count

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


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


class Verbs(NamedTuple):
    """The compiled functions of one kind of state."""

    predict: Callable[[Any, Prediction], None]
    commit: Callable[[Any, Prediction, int, Floats], None]
    withdraw: Callable[[Any, Floats, int], None]
    observe: Callable[[Any, Floats, int, float, int], None]


@dataclass(frozen=True)
class Learner(ABC):
    """The parts common to all learners; a subclass adds its own and the state they start from."""

    arms: int
    variant: Variant = "paper"

    name: ClassVar[str]
    setting: ClassVar[Setting]
    needs: ClassVar[str]
    guarantee: ClassVar[str]
    play_width: ClassVar[int] = 2
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
        if self.variant not in VARIANTS:
            known = " or ".join(map(repr, VARIANTS))
            raise ValueError(f"variant is {self.variant!r}; it must be {known}")

    @abstractmethod
    def start(self) -> Any:
        """The state before the first round."""

    @abstractmethod
    def blank(self) -> Prediction:
        """An empty prediction of the right shapes."""

    def predict(self, state: Any) -> Prediction:
        """The prediction of the coming round; the state is only read."""
        prediction = self.blank()
        self.verbs.predict(state, prediction)
        return prediction

    def commit(self, state: Any, prediction: Prediction, arm: int = -1) -> Floats:
        """Play the round; returns what was in force, a row for each loss that will be told."""
        rows = self.arms if self.setting is Setting.FULL_INFORMATION else 1
        plays = np.empty((rows, self.play_width))
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
