"""Exp3-IX: Exp3 that explores implicitly (Neu 2015), fed in the order of arrival.

A loss is divided by slightly more than the probability of its play. The estimates are a little too
small, and in return never so large that one unlikely play spoils all: the regret is small with high
probability, and not only in expectation.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled
from belated.learners.adversarial.exp3 import observe, predict, withdraw
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.types import Covers, Setting


class Exp3IXState(NamedTuple):
    """losses is the sum of the estimates that have arrived, by arm."""

    losses: Floats
    round: Counts


@compiled
def commit(state: Exp3IXState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze q_t(i_t) + gamma_t with gamma_t = eta_t/2, by which the loss will be divided."""
    plays[0, 0] = prediction.q[arm] + 0.5 * prediction.eta[0]
    state.round[0] += 1


@dataclass(frozen=True)
class Exp3IX(Learner):
    """Exp3-IX for any number of rounds, with the eta_t = sqrt(ln K / (K t)) of `exp3`."""

    name: ClassVar[str] = "exp3-ix"
    setting: ClassVar[Setting] = Setting.CONCEALED
    guarantee: ClassVar[str] = (
        "expected regret at most 3 sqrt(KT ln K) without delays; none with delays"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    source: ClassVar[str] = "Neu 2015, rates from memory; the bound in expectation is derived"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = Exp3IXState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> Exp3IXState:
        return Exp3IXState(losses=np.zeros(self.arms), round=np.ones(1, dtype=np.int64))

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)

    def bound(self, facts: Facts) -> float:
        """ln K/eta_T for the leader, K eta_t/2 a round for the variance, K gamma_t for the bias."""
        return 3.0 * math.sqrt(facts.arms * facts.rounds * math.log(facts.arms))
