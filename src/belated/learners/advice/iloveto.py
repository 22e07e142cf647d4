"""ILOVETOCONBANDITS (Agarwal et al. 2014) over a class of policies that is listed.

It finds weights over the policies so that the estimated reward of no policy varies much, and less
so the better the policy seems. What the weights leave goes to the best policy so far. It knows no
delays: its rounds are the plays whose rewards have come, in the order in which they came. With one
delay for all arms these are all plays but the last.
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

PSI = 100.0


class IlovetoState(NamedTuple):
    """The advice of the coming round, the history, and what stands for the epoch."""

    advice: Floats
    history: AdviceHistory
    epoch: Epoch
    doubt: Floats
    round: Counts


@compiled
def floor_now(arms: int, told: int, doubt: float) -> float:
    """Return mu = min(1/(2K), sqrt(ln(16 n^2 N/delta)/(K n))), where n rewards were told."""
    log = math.log(16.0) + 2.0 * math.log(float(told)) + doubt
    return min(0.5 / arms, math.sqrt(log / (arms * told)))


@compiled
def predict(state: IlovetoState, prediction: Prediction) -> None:
    """Play the weights of the epoch, or of a new one: b(n) is the regret of n over 100 mu."""
    info, arms = prediction.info, prediction.q.shape[0]
    copy_epoch(state.epoch, info)
    if is_over(state):
        told = int(state.history.told[0])
        info.floor[0], info.due[0] = floor_now(arms, told, state.doubt[0]), 2 * told
        fill_regrets(state.history, info.left, info.regrets)
        for n in range(info.regrets.shape[0]):
            info.allowances[n] = info.regrets[n] / (PSI * info.floor[0])
        descend(state.history, info.allowances, info.left, info.floor[0], info.weights, info.work)
        give_rest_to_best(info.regrets, info.left, info.weights)
    play_smoothed(state, prediction)


@dataclass(frozen=True)
class Iloveto(OverClass):
    """ILOVETOCONBANDITS with epochs that double, for any number of rounds."""

    name: ClassVar[str] = "iloveto"
    guarantee: ClassVar[str] = (
        "with probability 1 - delta, for independent rounds without delays, regret against the "
        "best policy of order sqrt(K T ln(T N/delta)) + K ln(T N/delta)"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Agarwal et al. 2014, read"
    state: ClassVar[type] = IlovetoState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)
