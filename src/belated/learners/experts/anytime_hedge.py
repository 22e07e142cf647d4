"""Hedge for an unknown horizon: exponential weights for experts, which ignore delays.

This is the forecaster of Littlestone and Warmuth (1994) and Freund and Schapire (1997) with the
falling rate of Cesa-Bianchi and Lugosi (2006). It uses each loss as it arrives, and is the base
learner of "bold-hedge" and "copies-hedge".
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.numerics.exponential_weights import weigh_exponentially
from belated.types import Covers, Origin, Setting


class AnytimeHedgeState(NamedTuple):
    """State of Hedge: losses is the sum of the losses that have arrived, by arm."""

    losses: Floats
    round: Counts


@compiled
def predict(state: AnytimeHedgeState, prediction: Prediction) -> None:
    """Fill in q_t(i), in proportion to exp(-eta_t L(i)), with eta_t = sqrt(8 ln K / t)."""
    eta = math.sqrt(8.0 * math.log(state.losses.shape[0]) / state.round[0])
    prediction.eta[0] = eta
    weigh_exponentially(state.losses, eta, prediction.q)


@compiled
def commit(state: AnytimeHedgeState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the round; nothing has to be frozen."""
    for row in range(plays.shape[0]):
        plays[row, 0] = 0.0
    state.round[0] += 1


@compiled
def withdraw(state: AnytimeHedgeState, play: Floats, arm: int) -> None:
    """Do nothing: this learner keeps no record of the plays that are outstanding."""


@compiled
def observe(state: AnytimeHedgeState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the loss to the sum of its arm."""
    state.losses[arm] += loss


@dataclass(frozen=True)
class AnytimeHedge(Learner):
    """Hedge with a falling rate, for any number of rounds."""

    name: ClassVar[str] = "anytime-hedge"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    guarantee: ClassVar[str] = "regret at most 3 sqrt(T ln K / 8) without delays; none with delays"
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = "Cesa-Bianchi and Lugosi 2006; rate from memory, bound derived"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = AnytimeHedgeState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> AnytimeHedgeState:
        return AnytimeHedgeState(losses=np.zeros(self.arms), round=np.ones(1, dtype=np.int64))

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)

    def bound(self, facts: Facts) -> float:
        """Return 3 sqrt(T ln K / 8), which is at least ln K / eta_T + sum_t eta_t / 8.

        By Hoeffding's lemma the loss of a round is at most the mix loss plus eta_t / 8, and the mix
        losses telescope, since -ln(mean of exp(-eta L)) / eta falls in eta.
        """
        return 3.0 * math.sqrt(facts.rounds * math.log(facts.arms) / 8.0)
