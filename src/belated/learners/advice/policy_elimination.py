"""Policy elimination (Dudik et al. 2011) over a class of policies that is listed.

It finds weights over the policies that are left, so that the estimated reward of each of them
varies little, and drops policies that are certainly worse than the best. The paper knows how
contexts are distributed; here the contexts of told plays stand for that. It solves and drops in
every round, here whenever twice as many rewards have been told. What the weights leave goes to the
best policies, which no constraint forbids: a weight only lowers the variances. Its rounds are the
plays whose rewards have come.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.advice.advice_history import AdviceHistory, fill_regrets
from belated.learners.advice.low_variance import descend, give_rest_to_best
from belated.learners.advice.policy_class import (
    Epoch,
    OverClass,
    commit,
    copy_epoch,
    is_over,
    observe,
    play_smoothed,
    withdraw,
)
from belated.learners.contract import Prediction, Verbs
from belated.types import Covers, Origin


class PolicyEliminationState(NamedTuple):
    """The advice of the coming round, the history, and what stands for the epoch."""

    advice: Floats
    history: AdviceHistory
    epoch: Epoch
    doubt: Floats
    round: Counts


@compiled
def floor_and_width(arms: int, told: int, doubt: float) -> tuple[float, float]:
    """Return mu = min(1/(2K), sqrt(L/(2 K n))) and b = 2 sqrt(2 K L/n), L = ln(4 N n^2/delta)."""
    log = math.log(4.0) + 2.0 * math.log(float(told)) + doubt
    floor = min(0.5 / arms, math.sqrt(log / (2.0 * arms * told)))
    return floor, 2.0 * math.sqrt(2.0 * arms * log / told)


@compiled
def predict(state: PolicyEliminationState, prediction: Prediction) -> None:
    """Play the weights of the epoch, or of a new one: policies 2 b below the best are dropped."""
    info, arms = prediction.info, prediction.q.shape[0]
    copy_epoch(state.epoch, info)
    if is_over(state):
        told = int(state.history.told[0])
        info.floor[0], width = floor_and_width(arms, told, state.doubt[0])
        info.due[0] = 2 * told
        fill_regrets(state.history, info.left, info.regrets)
        for n in range(info.regrets.shape[0]):
            info.allowances[n] = 0.0
            if info.regrets[n] > 2.0 * width:
                info.left[n] = 0.0
        descend(state.history, info.allowances, info.left, info.floor[0], info.weights, info.work)
        give_rest_to_best(info.regrets, info.left, info.weights)
    play_smoothed(state, prediction)


@dataclass(frozen=True)
class PolicyElimination(OverClass):
    """Policy elimination, for any number of rounds."""

    name: ClassVar[str] = "policy-elimination"
    guarantee: ClassVar[str] = (
        "with probability 1 - delta, for independent rounds without delays and contexts whose law "
        "is known, regret against the best policy of order sqrt(K T ln(N T/delta))"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.MEMORY
    source: ClassVar[str] = "Dudík et al. 2011, from memory; solved as in Agarwal et al. 2014, read"
    state: ClassVar[type] = PolicyEliminationState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)
