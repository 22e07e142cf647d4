"""Delayed exponential weights (DEW) of Thune, Cesa-Bianchi and Seldin, 2019.

This is Exp3 with a constant learning rate, tuned to the total delay and kept so low that the
weights hardly change while a single loss is outstanding.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.adversarial.exp3 import observe, withdraw
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.numerics.exponential_weights import weigh_exponentially
from belated.numerics.importance_weights import divisor
from belated.types import Covers, Need, Origin, Setting


class FixedRateState(NamedTuple):
    """State: losses is the sum of the arrived estimates by arm, and rate is eta."""

    losses: Floats
    rate: Floats
    round: Counts


@compiled
def predict(state: FixedRateState, prediction: Prediction) -> None:
    """Fill in q_t(i), in proportion to exp(-eta L(i))."""
    prediction.eta[0] = state.rate[0]
    weigh_exponentially(state.losses, state.rate[0], prediction.q)


@compiled
def commit(state: FixedRateState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze q_t(i_t), the probability with which the arm was drawn."""
    plays[0, 0] = divisor(prediction.q[arm])
    state.round[0] += 1


def tuned_rate(arms: int, rounds: float, total_delay: float) -> float:
    """Return sqrt(ln K / (e K T/2 + D)), which balances the two terms of the regret bound."""
    return math.sqrt(math.log(arms) / (math.e * arms * rounds / 2.0 + total_delay))


def fixed_rate_bound(rate: float, arms: int, rounds: int, total_delay: float) -> float:
    """Return the regret bound ln K/eta + eta (KT + D) of exponential weights at a constant rate.

    Weights that also used the outstanding losses would be at least q_t(i) (1 - eta times the
    estimates of outstanding plays of i). Each of these estimates has mean at most 1, and the
    estimate of the round itself has mean 1/q_t(i).
    """
    if arms == 1:
        return 0.0
    return math.log(arms) / rate + rate * (arms * rounds + total_delay)


@dataclass(frozen=True)
class TunedWeights(Learner):
    """Exponential weights at a constant rate, tuned to the number of rounds and the total delay."""

    horizon: int = 1
    total_delay: int = 0

    setting: ClassVar[Setting] = Setting.CONCEALED
    covers: ClassVar[Covers] = Covers.SHARED
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = FixedRateState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)
        self._check_count("total_delay", 0)

    @property
    @abstractmethod
    def rate(self) -> float:
        """The constant learning rate eta."""

    def start(self) -> Any:
        return FixedRateState(
            losses=np.zeros(self.arms),
            rate=np.full(1, self.rate),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)

    def bound(self, facts: Facts) -> float:
        return fixed_rate_bound(self.rate, facts.arms, facts.rounds, facts.total_delay)


@dataclass(frozen=True)
class DelayedExponentialWeights(TunedWeights):
    """DEW, tuned to the number of rounds T, the total delay D and the longest delay d_max."""

    max_delay: int = 0

    name: ClassVar[str] = "dew"
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON, Need.TOTAL_DELAY, Need.MAX_DELAY)
    guarantee: ClassVar[str] = "expected regret at most ln K/eta + eta (KT + D)"
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = "Thune et al. 2019, rates from memory; the bound is derived"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("max_delay", 0)

    @property
    def rate(self) -> float:
        """The learning rate eta = min{sqrt(ln K / (e K T/2 + D)), 1/(4 e d_max)}."""
        rate = tuned_rate(self.arms, self.horizon, self.total_delay)
        return min(rate, 1.0 / (4.0 * math.e * self.max_delay)) if self.max_delay else rate
