"""Prod of Cesa-Bianchi, Mansour and Stoltz (2007): weights that are multiplied by 1 - eta l.

It differs from Hedge in the second order of the losses only, and for that its regret against an arm
depends on the squares of this arm's own losses. It ignores delays: each loss is used as it arrives.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.numerics.exponential_weights import weigh_exponentially
from belated.types import Covers, Need, Origin, Setting

FASTEST = 0.5  # the largest rate for which ln(1 - x) >= -x - x^2


class ProdState(NamedTuple):
    """State: losses sums -ln(1 - eta l)/eta over the losses that have arrived, by arm."""

    losses: Floats
    rate: Floats
    round: Counts


@compiled
def predict(state: ProdState, prediction: Prediction) -> None:
    """Fill in q_t(i), in proportion to the product of 1 - eta l over the arm's losses."""
    prediction.eta[0] = state.rate[0]
    weigh_exponentially(state.losses, state.rate[0], prediction.q)


@compiled
def commit(state: ProdState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the round; nothing has to be frozen."""
    for row in range(plays.shape[0]):
        plays[row, 0] = 0.0
    state.round[0] += 1


@compiled
def withdraw(state: ProdState, play: Floats, arm: int) -> None:
    """Do nothing: this learner keeps no record of the plays that are outstanding."""


@compiled
def observe(state: ProdState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Multiply the weight of the arm by 1 - eta l."""
    state.losses[arm] -= math.log(1.0 - state.rate[0] * loss) / state.rate[0]


@dataclass(frozen=True)
class Prod(Learner):
    """Prod with the rate min(1/2, sqrt(ln K / T)).

    Let W_t be the sum of the weights before round t. Then W_{t+1}/W_t = 1 - eta <q_t, l_t>, whose
    logarithm is at most -eta <q_t, l_t>. The weight of arm i alone is at least exp(-eta l - eta^2
    l^2) for each of its losses, as long as eta <= 1/2. Hence

        regret against i <= ln K / eta + eta sum_t l_t(i)^2.
    """

    horizon: int = 1

    name: ClassVar[str] = "prod"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON,)
    guarantee: ClassVar[str] = (
        "regret against every arm i at most ln K/eta + eta sum_t l_t(i)^2 without delays, with "
        "eta = min(1/2, sqrt(ln K / T)); none with delays"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = (
        "Cesa-Bianchi, Mansour and Stoltz 2007, update from memory; the bound is derived"
    )
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = ProdState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)

    @property
    def rate(self) -> float:
        """The rate eta; a single arm, which needs none, has that of two."""
        return min(FASTEST, math.sqrt(math.log(max(2, self.arms)) / self.horizon))

    def bound(self, facts: Facts) -> float:
        """Return ln K / eta + eta L*, as the square of a loss is at most the loss."""
        return math.log(self.arms) / self.rate + self.rate * facts.best_loss

    def start(self) -> ProdState:
        return ProdState(
            losses=np.zeros(self.arms),
            rate=np.full(1, self.rate),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)
