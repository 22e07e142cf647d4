"""Exp3 that ignores delays and uses each loss as it arrives.

These are the exponential weights of Auer, Cesa-Bianchi, Freund and Schapire with
importance-weighted losses. The weights have a closed form, so Exp3 is the reference for the speed
of the learners that must solve an equation for their weights.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.learners.new_arms import with_entrants
from belated.learners.states import ArmFloats
from belated.numerics.exponential_weights import weigh_exponentially
from belated.numerics.importance_weights import divisor
from belated.types import Covers, Origin, Setting


class Exp3State(NamedTuple):
    """State of Exp3: losses is the sum of the loss estimates that have arrived, by arm."""

    losses: ArmFloats
    round: Counts


@compiled
def predict(state: Exp3State, prediction: Prediction) -> None:
    """Fill in q_t(i), in proportion to exp(-eta_t L(i)), with eta_t = sqrt(ln K / (K t))."""
    arms = state.losses.shape[0]
    eta = math.sqrt(math.log(arms) / (arms * state.round[0]))
    prediction.eta[0] = eta
    weigh_exponentially(state.losses, eta, prediction.q)


@compiled
def commit(state: Exp3State, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze q_t(i_t), the probability with which the arm was drawn."""
    plays[0, 0] = divisor(prediction.q[arm])
    state.round[0] += 1


@compiled
def withdraw(state: Exp3State, play: Floats, arm: int) -> None:
    """Do nothing: this learner keeps no record of the plays that are outstanding."""


@compiled
def observe(state: Exp3State, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the estimate l / q_s, where q_s is the arm's probability when it was played."""
    state.losses[arm] += loss / play[0]


@dataclass(frozen=True)
class Exp3(Learner):
    """Exp3 with a falling rate, for any number of rounds."""

    name: ClassVar[str] = "exp3"
    setting: ClassVar[Setting] = Setting.CONCEALED
    guarantee: ClassVar[str] = (
        "expected regret at most 2 sqrt(KT ln K) without delays; none with delays"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = (
        "Auer et al. 2002; rate and bound of Bubeck and Cesa-Bianchi 2012, Theorem 3.1, read in a "
        "transcript of it"
    )
    play_width: ClassVar[int] = 1
    can_change_arms: ClassVar[bool] = True
    state: ClassVar[type] = Exp3State
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def bound(self, facts: Facts) -> float:
        """Return 2 sqrt(KT ln K)."""
        return 2.0 * math.sqrt(self.arms * facts.rounds * math.log(self.arms))

    def start(self) -> Exp3State:
        return Exp3State(losses=np.zeros(self.arms), round=np.ones(1, dtype=np.int64))

    def with_arms(self, state: Exp3State, kept: Sequence[int], added: int) -> Exp3State:
        entered: Exp3State = with_entrants(self, state, kept, added)
        return entered

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)
