"""FPL-TrIX, fed in the order of arrival: follow the perturbed leader with truncated perturbations.

Neu 2015, for one arm a round. Perturbations that cannot exceed B keep an arm of large loss from
being played at all, and with implicit exploration the regret depends on the loss of the best arm
rather than on the number of rounds. Its weights are integrals, worked out here to twelve digits,
where the paper draws perturbations; a round costs the square of the number of arms.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled
from belated.learners.adversarial.perturbed_leader import weigh_perturbed
from belated.learners.contract import Learner, Prediction, Verbs
from belated.types import Covers, Setting


class FplTrixState(NamedTuple):
    """losses is the sum of the estimates that have arrived, order the arms by it, least first."""

    losses: Floats
    order: Counts
    round: Counts


class FplTrixInfo(NamedTuple):
    """Working space of the integration."""

    work: Floats


@compiled
def predict(state: FplTrixState, prediction: Prediction) -> None:
    """q_t(i), the probability that eta_t L(i) - Z(i) is the least.

    eta_t = sqrt((ln K + 1) / (1 / (ln K + 1) + sum_i L(i))); the Z(i) are exponential, given that
    they are at most ln(K / eta_t).
    """
    arms = state.losses.shape[0]
    scale = math.log(arms) + 1.0
    eta = math.sqrt(scale / (1.0 / scale + state.losses.sum()))
    prediction.eta[0] = eta
    if arms == 1:
        prediction.q[0] = 1.0
    else:
        weigh_perturbed(state.losses, state.order, eta, prediction.info.work, prediction.q)


@compiled
def commit(state: FplTrixState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze q_t(i_t) + gamma_t, with gamma_t = eta_t."""
    plays[0, 0] = prediction.q[arm] + prediction.eta[0]
    state.round[0] += 1


@compiled
def withdraw(state: FplTrixState, play: Floats, arm: int) -> None:
    """Nothing is counted while it is outstanding."""


@compiled
def observe(state: FplTrixState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add l / (q_s + gamma_s), as of the round of the play, and put the arm in its new place."""
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
