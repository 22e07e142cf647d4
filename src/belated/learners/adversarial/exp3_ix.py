"""Exp3-IX: Exp3 with implicit exploration (Neu 2015), which uses each loss as it arrives.

A loss is divided by slightly more than the probability with which its arm was drawn. The estimates
are then slightly too small, but a single unlikely play cannot make them very large. The regret is
therefore small with high probability, and not only in expectation.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.adversarial.exp3 import observe, predict, withdraw
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.types import Covers, Origin, Setting


class Exp3IXState(NamedTuple):
    """State of Exp3-IX: losses is the sum of the loss estimates that have arrived, by arm."""

    losses: Floats
    round: Counts


@compiled
def commit(state: Exp3IXState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the divisor of the loss, q_t(i_t) + gamma_t with gamma_t = eta_t/2."""
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
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = (
        "Neu 2015, rates read in others' code; the bound in expectation is derived"
    )
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = Exp3IXState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> Exp3IXState:
        return Exp3IXState(losses=np.zeros(self.arms), round=np.ones(1, dtype=np.int64))

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)

    def bound(self, facts: Facts) -> float:
        """Return the bound 3 sqrt(KT ln K), the sum of three terms.

        They are ln K/eta_T for the best arm, and in each round K eta_t/2 for the variance of the
        estimates and K gamma_t for their bias.
        """
        return 3.0 * math.sqrt(facts.arms * facts.rounds * math.log(facts.arms))
