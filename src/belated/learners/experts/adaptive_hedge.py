"""Adaptive delayed Hedge: exponential weights whose rate adapts to the missing counts.

This is Hedge with the self-confident rate of Auer, Cesa-Bianchi and Gentile (2002), computed from
the number of outstanding losses instead of the losses suffered. With full information the learner
can count missing losses, so nothing need be known beforehand. The bound is a factor sqrt(2) above
that of a rate tuned in hindsight, and more than that without delays.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.numerics.exponential_weights import weigh_exponentially
from belated.types import Covers, Delivery, Origin, Setting


class AdaptiveHedgeState(NamedTuple):
    """State: by arm, losses sums the arrived losses and missing is rho_t; charged is A_{t-1}."""

    losses: Floats
    missing: Counts
    charged: Counts
    round: Counts


@compiled
def charged_now(state: AdaptiveHedgeState) -> int:
    """Return A_t, the sum of 1 + max_i rho_s(i) over the rounds s <= t."""
    most = 0
    for missing in state.missing:
        most = max(most, missing)
    return int(state.charged[0] + 1 + most)


@compiled
def predict(state: AdaptiveHedgeState, prediction: Prediction) -> None:
    """Fill in q_t(i), in proportion to exp(-eta_t L(i)), with eta_t = sqrt(ln K / (2 A_t))."""
    eta = math.sqrt(math.log(state.losses.shape[0]) / (2.0 * charged_now(state)))
    prediction.eta[0] = eta
    weigh_exponentially(state.losses, eta, prediction.q)


@compiled
def commit(state: AdaptiveHedgeState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Update A_t, and count the losses of the round as missing."""
    state.charged[0] = charged_now(state)
    for i in range(plays.shape[0]):
        plays[i, 0] = 0.0
        state.missing[i] += 1
    state.round[0] += 1


@compiled
def withdraw(state: AdaptiveHedgeState, play: Floats, arm: int) -> None:
    """Count one missing loss fewer for the arm."""
    state.missing[arm] -= 1


@compiled
def observe(state: AdaptiveHedgeState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the loss to L(i), and count one missing loss fewer for the arm."""
    withdraw(state, play, arm)
    state.losses[arm] += loss


@dataclass(frozen=True)
class AdaptiveHedge(Learner):
    """Hedge for any number of rounds and any delays.

    Let p_t be the weights computed from all losses up to and including round t, at the same rate.
    Playing them would cost at most ln K / eta_T more than the best arm. The difference
    q_t(i) - p_t(i) is at most eta_t q_t(i) (1 + rho_t(i)), because p_t uses only 1 + rho_t(i) more
    losses of arm i than q_t does. Hence

        regret <= ln K / eta_T + sum_t eta_t (1 + max_i rho_t(i)) <= 2 sqrt(2 A_T ln K).
    """

    name: ClassVar[str] = "adaptive-hedge"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    deliveries: ClassVar[tuple[Delivery, ...]] = ("own",)
    guarantee: ClassVar[str] = "regret at most 2 sqrt(2 (T + D) ln K), D = sum_t max_i rho_t(i)"
    covers: ClassVar[Covers] = Covers.ANY
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = "derived from the paper's lemmas without corrections"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = AdaptiveHedgeState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def bound(self, facts: Facts) -> float:
        """Return the regret bound 2 sqrt(2 A_T ln K), with A_T = T + D."""
        return 2.0 * math.sqrt(2.0 * (facts.rounds + facts.total_delay) * math.log(self.arms))

    def start(self) -> AdaptiveHedgeState:
        return AdaptiveHedgeState(
            losses=np.zeros(self.arms),
            missing=np.zeros(self.arms, dtype=np.int64),
            charged=np.zeros(1, dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)
