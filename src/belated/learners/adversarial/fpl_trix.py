"""FPL-TrIX: follow the perturbed leader with truncated perturbations and implicit exploration.

The algorithm is from Neu 2015, here for one arm in each round; it uses each loss as it arrives.
Perturbations that cannot exceed B keep an arm of large loss from being played at all. With implicit
exploration the regret depends on the loss of the best arm rather than on the number of rounds. The
paper draws perturbations; here the weights are computed as integrals, to twelve digits, and the
cost of a round grows with the square of the number of arms.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.adversarial.perturbed_leader import weigh_perturbed
from belated.learners.contract import Learner, Prediction, Verbs
from belated.numerics.ordered_sums import sum_in_order
from belated.types import Covers, Origin, Setting


class FplTrixState(NamedTuple):
    """State: losses is the sum of the arrived estimates by arm; order sorts the arms by losses."""

    losses: Floats
    order: Counts
    round: Counts


class FplTrixInfo(NamedTuple):
    """Working space of the numerical integration."""

    work: Floats


@compiled
def predict(state: FplTrixState, prediction: Prediction) -> None:
    """Fill in q_t(i), the probability that eta_t L(i) - Z(i) is the smallest.

    eta_t = sqrt((ln K + 1) / (1 / (ln K + 1) + sum_i L(i))); the Z(i) are exponential, conditioned
    on being at most ln(K / eta_t).
    """
    arms = state.losses.shape[0]
    scale = math.log(arms) + 1.0
    eta = math.sqrt(scale / (1.0 / scale + sum_in_order(state.losses)))
    prediction.eta[0] = eta
    if arms == 1:
        prediction.q[0] = 1.0
    else:
        weigh_perturbed(state.losses, state.order, eta, prediction.info.work, prediction.q)


@compiled
def commit(state: FplTrixState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the divisor of the loss, q_t(i_t) + gamma_t with gamma_t = eta_t."""
    plays[0, 0] = prediction.q[arm] + prediction.eta[0]
    state.round[0] += 1


@compiled
def withdraw(state: FplTrixState, play: Floats, arm: int) -> None:
    """Do nothing: this learner keeps no record of the plays that are outstanding."""


@compiled
def observe(state: FplTrixState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the estimate l / (q_s + gamma_s), from the round of the play, and sort the arm again."""
    losses, order = state.losses, state.order
    losses[arm] += loss / play[0]
    k = 0
    while order[k] != arm:
        k += 1
    while k + 1 < order.shape[0] and losses[order[k + 1]] < losses[arm]:
        order[k] = order[k + 1]
        k += 1
    order[k] = arm


@dataclass(frozen=True)
class FplTrix(Learner):
    """FPL-TrIX for any number of rounds."""

    name: ClassVar[str] = "fpl-trix"
    setting: ClassVar[Setting] = Setting.CONCEALED
    guarantee: ClassVar[str] = (
        "expected regret 13 sqrt(K L* (ln K + 1)) + O(K ln(KT)) without delays, L* the loss of the "
        "best arm; none with delays"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Neu 2015, read"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = FplTrixState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> FplTrixState:
        return FplTrixState(
            losses=np.zeros(self.arms),
            order=np.arange(self.arms, dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        info = FplTrixInfo(work=np.zeros((2, self.arms)))
        return Prediction.blank(self.arms, eta=1, info=info)
