"""Delayed Hedge: exponential weights on the arrived losses, at a constant rate tuned to delays.

This is the weighted majority algorithm of Littlestone and Warmuth (1994) and Freund and Schapire
(1997). A outstanding loss changes the weights by at most a factor exp(eta), so they stay close to
those of a Hedge that has seen all losses. Each arm's losses are used as they arrive, whatever the
delays of the other arms. The learner must know the number of rounds and the total delay, where the
paper's learner needs no tuning.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_number
from belated.compiled.kernels import compiled
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.numerics.exponential_weights import weigh_exponentially
from belated.types import Covers, Delivery, Need, Origin, Setting


class HedgeState(NamedTuple):
    """State: losses is the sum of the arrived losses, by arm; eta is the constant learning rate."""

    losses: Floats
    eta: Floats
    round: Counts


@compiled
def predict(state: HedgeState, prediction: Prediction) -> None:
    """Fill in q_t(i), in proportion to exp(-eta L(i))."""
    prediction.eta[0] = state.eta[0]
    weigh_exponentially(state.losses, state.eta[0], prediction.q)


@compiled
def commit(state: HedgeState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the round; nothing has to be frozen."""
    for i in range(plays.shape[0]):
        plays[i, 0] = 0.0
    state.round[0] += 1


@compiled
def withdraw(state: HedgeState, play: Floats, arm: int) -> None:
    """Do nothing: this learner keeps no record of the plays that are outstanding."""


@compiled
def observe(state: HedgeState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the loss to L(i), the sum of its arm."""
    state.losses[arm] += loss


@dataclass(frozen=True)
class DelayedHedge(Learner):
    """Hedge at a given rate eta, or at the rate that balances the terms of its bound.

    Let M_t(i) <= rho_t(i) be the sum of the missing losses of arm i. A Hedge that has seen all
    losses plays p_t(i) >= q_t(i) exp(-eta M_t(i)) >= q_t(i) (1 - eta rho_t(i)), so that
    <q_t - p_t, l_t> is at most eta max_i rho_t(i). Together with the bound of Hedge itself,

        regret <= ln K / eta + eta (T/8 + D),  D = sum_t max_i rho_t(i).
    """

    horizon: int = 1
    total_delay: int = 0
    eta: float | None = None

    name: ClassVar[str] = "hedge"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON, Need.TOTAL_DELAY)
    deliveries: ClassVar[tuple[Delivery, ...]] = ("own",)
    guarantee: ClassVar[str] = (
        "regret at most 2 sqrt((T/8 + D) ln K) if T and D = sum_t max_i rho_t(i) are known"
    )
    covers: ClassVar[Covers] = Covers.ANY
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = "derived from the textbook bound of Hedge without delays"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = HedgeState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)
        self._check_count("total_delay", 0)
        if self.eta is not None:
            object.__setattr__(self, "eta", as_number(self.eta, "eta"))
            if self.eta <= 0.0:
                raise ValueError(f"eta is {self.eta!r}; it must be above 0")

    @property
    def rate(self) -> float:
        """The learning rate: the given eta, or else sqrt(ln K / (T/8 + D))."""
        if self.eta is not None:
            return self.eta
        return math.sqrt(math.log(self.arms) / (self.horizon / 8.0 + self.total_delay))

    def bound(self, facts: Facts) -> float:
        """Return ln K / eta + eta (T/8 + D), which holds for any eta; it is 0 with one arm."""
        if self.arms == 1:
            return 0.0
        return math.log(self.arms) / self.rate + self.rate * (facts.rounds / 8 + facts.total_delay)

    def start(self) -> HedgeState:
        return HedgeState(
            losses=np.zeros(self.arms),
            eta=np.full(1, self.rate),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)
