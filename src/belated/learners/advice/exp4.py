"""Exp4 that ignores delays and uses each loss as it arrives.

The exponential weights of Auer, Cesa-Bianchi, Freund and Schapire over policies that give advice,
with importance-weighted losses. It is the rival of "advice-bandit", which knows of delays.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.advice.policies import OverPolicies, mix
from belated.learners.contract import Prediction, Verbs
from belated.numerics.exponential_weights import weigh_exponentially
from belated.numerics.importance_weights import divisor
from belated.types import Covers, Origin, Setting


class Exp4State(NamedTuple):
    """The advice of the coming round, and the estimated losses of the policies, with ln pi."""

    advice: Floats
    losses: Floats
    log_prior: Floats
    round: Counts


class Exp4Info(NamedTuple):
    """The weights of the policies; exponents is working space."""

    weights: Floats
    exponents: Floats


@compiled
def predict(state: Exp4State, prediction: Prediction) -> None:
    """Weigh policy n by pi(n) exp(-eta_t L(n)), eta_t = sqrt(ln N / (K t)), and mix the advice."""
    info, advice, size = prediction.info, state.advice, state.losses.shape[0]
    eta = math.sqrt(math.log(size) / (advice.shape[1] * state.round[0]))
    for n in range(size):
        info.exponents[n] = eta * state.losses[n] - state.log_prior[n]
    weigh_exponentially(info.exponents, 1.0, info.weights)
    mix(info.weights, advice, prediction.q)
    prediction.eta[0] = eta


@compiled
def commit(state: Exp4State, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze xi_t(n, i_t) / q_t(i_t) for each policy n."""
    share = 1.0 / divisor(prediction.q[arm])
    for n in range(state.losses.shape[0]):
        plays[0, n] = state.advice[n, arm] * share
    state.round[0] += 1


@compiled
def withdraw(state: Exp4State, play: Floats, arm: int) -> None:
    """Do nothing: this learner keeps no record of the plays that are outstanding."""


@compiled
def observe(state: Exp4State, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the estimate xi_s(n, i) l / q_s(i), with advice and probability of the play."""
    for n in range(state.losses.shape[0]):
        state.losses[n] += play[n] * loss


@dataclass(frozen=True)
class Exp4(OverPolicies):
    """Exp4 with a falling rate, for any number of rounds."""

    name: ClassVar[str] = "exp4"
    setting: ClassVar[Setting] = Setting.CONCEALED
    guarantee: ClassVar[str] = (
        "expected regret against every policy at most 2 sqrt(KT ln N) without delays, with an even "
        "prior; none with delays"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = (
        "Auer et al. 2002, without its exploration; rate and bound of Bubeck and Cesa-Bianchi "
        "2012, Theorem 4.2, read in a transcript of it"
    )
    state: ClassVar[type] = Exp4State
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    @property
    def row_width(self) -> int:
        return self.size

    def start(self) -> Exp4State:
        return Exp4State(
            advice=self.first_advice(),
            losses=np.zeros(self.size),
            log_prior=np.log(np.array(self.prior)),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        size = self.size
        info = Exp4Info(weights=np.zeros(size), exponents=np.zeros(size))
        return Prediction.blank(self.arms, eta=1, info=info)
