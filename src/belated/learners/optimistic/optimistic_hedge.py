"""The parts that AdaHedgeD and DUB share: Hedge with hints, at a temperature lambda."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Prediction
from belated.learners.optimistic.hints import OptimisticLearner, fill_hint
from belated.learners.whole_rounds import LOSS, ROUND, WEIGHT, WholeRounds
from belated.numerics.softmin import softmin

LOSSES, HINT, FROZEN = 2, 3, 4  # further columns of a play; FROZEN differs by learner
WIDTH = 5


class HedgeInfo(NamedTuple):
    """The losses from which Hedge computes its weights, and the hint that is part of them."""

    expected: Floats
    hint: Floats


class Sizes(NamedTuple):
    """The largest loss |g_s(i)|, and the largest error of the hint, |h_s(i) - g_os(i)|."""

    loss: float
    miss: float


@compiled
def predict(state: Any, prediction: Prediction) -> None:
    """Fill in w_t = softmin((G + h_t)/lambda): G are the losses of whole rounds, h_t the hint."""
    expected, hint = prediction.info.expected, prediction.info.hint
    fill_hint(state.rounds, state.hints, hint)
    for i in range(hint.shape[0]):
        expected[i] = state.rounds.losses[i] + hint[i]
    prediction.eta[0] = 1.0 / state.temperature[0] if state.temperature[0] > 0.0 else np.inf
    softmin(expected, state.temperature[0], prediction.q)


@compiled
def freeze(rounds: WholeRounds, prediction: Prediction, plays: Floats, own: float) -> None:
    """Play the round: freeze its number, w_t, G and h_t of each arm, and the number `own`."""
    for i in range(plays.shape[0]):
        plays[i, ROUND] = rounds.round[0]
        plays[i, WEIGHT] = prediction.q[i]
        plays[i, LOSSES] = rounds.losses[i]
        plays[i, HINT] = prediction.info.hint[i]
        plays[i, FROZEN] = own
    rounds.round[0] += 1


@compiled
def fill_miss(rounds: WholeRounds, miss: Floats) -> Sizes:
    """Fill miss with g_os - h_s for the round s that has just become whole, and return the sizes.

    g_os is the sum of the losses that were outstanding when s was played. Since rounds become whole
    in the order of play, it is the sum of the losses of the rounds that became whole since then, of
    which s is the last.
    """
    largest, furthest = 0.0, 0.0
    for i in range(miss.shape[0]):
        miss[i] = rounds.losses[i] - rounds.gathered[LOSSES, i] - rounds.gathered[HINT, i]
        largest = max(largest, rounds.gathered[LOSS, i])
        furthest = max(furthest, abs(miss[i]))
    return Sizes(largest, furthest)


@dataclass(frozen=True)
class OptimisticHedge(OptimisticLearner):
    """The base class of Hedge with hints; each subclass defines how its temperature grows."""

    guarantee: ClassVar[str] = (
        "regret of order sqrt((d + 1) T ln K) if every loss is d rounds late, less with good hints"
    )
    play_width: ClassVar[int] = WIDTH

    def blank(self) -> Prediction:
        info = HedgeInfo(expected=np.zeros(self.arms), hint=np.zeros(self.arms))
        return Prediction.blank(self.arms, eta=1, info=info)
