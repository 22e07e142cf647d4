"""Follow the perturbed leader for experts (Kalai and Vempala 2005, Hutter and Poland 2004).

The arm with the smallest eta_t L(i) - Z(i) leads, where the Z(i) are independent exponential
variables. The papers draw them; here the weights are the probabilities themselves, which are
integrals of polynomials. It ignores delays: each loss is used as it arrives.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.adversarial.perturbed_leader import weigh_exponentially_perturbed
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.types import Covers, Origin, Setting


class FplState(NamedTuple):
    """State: losses sums the losses that have arrived, by arm."""

    losses: Floats
    round: Counts


class FplInfo(NamedTuple):
    """Working space of the integration."""

    work: Floats


@compiled
def predict(state: FplState, prediction: Prediction) -> None:
    """Fill in q_t(i), the probability that arm i leads, with eta_t = sqrt(ln K / (2 t))."""
    arms = state.losses.shape[0]
    eta = math.sqrt(math.log(arms) / (2.0 * state.round[0]))
    prediction.eta[0] = eta
    if arms == 1:
        prediction.q[0] = 1.0
    else:
        weigh_exponentially_perturbed(state.losses, eta, prediction.info.work, prediction.q)


@compiled
def commit(state: FplState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the round; nothing has to be frozen."""
    for row in range(plays.shape[0]):
        plays[row, 0] = 0.0
    state.round[0] += 1


@compiled
def withdraw(state: FplState, play: Floats, arm: int) -> None:
    """Do nothing: this learner keeps no record of the plays that are outstanding."""


@compiled
def observe(state: FplState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the loss to the sum of its arm."""
    state.losses[arm] += loss


@dataclass(frozen=True)
class Fpl(Learner):
    """Follow the perturbed leader with exponential perturbations, for any number of rounds.

    A leader that knew the losses of round t would regret at most E max Z - E Z <= ln K, divided by
    eta_T. Not knowing them changes its weights by a factor of at most exp(eta_t), as exponential
    variables have no memory, which costs at most eta_t in round t. Hence

        regret <= ln K / eta_T + sum_t eta_t <= 2 sqrt(2 T ln K).
    """

    name: ClassVar[str] = "fpl"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    guarantee: ClassVar[str] = "regret at most 2 sqrt(2 T ln K) without delays; none with delays"
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = "Hutter and Poland 2004, rate from memory; the bound is derived"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = FplState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def bound(self, facts: Facts) -> float:
        return 2.0 * math.sqrt(2.0 * facts.rounds * math.log(self.arms))

    def start(self) -> FplState:
        return FplState(losses=np.zeros(self.arms), round=np.ones(1, dtype=np.int64))

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1, info=FplInfo(work=np.zeros((2, self.arms))))
