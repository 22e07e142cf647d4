"""What AdaHedgeD and DUB share: Hedge on the losses told and hinted, at a temperature lambda."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from belated.arrays import Floats
from belated.compiled.jit import compiled
from belated.learners.contract import Prediction, fill_p
from belated.learners.optimistic.hints import Hinted, OptimisticLearner, fill_hint
from belated.learners.whole_rounds import LOSS, ROUND, WEIGHT
from belated.numerics.softmin import softmin

LOSSES, HINT, FROZEN = 2, 3, 4  # more columns of a play; the last is the learner's own
WIDTH = 5
EXPECTED, HINTED = 0, 1  # rows of a prediction's room to work in
WORK = 2


class Tempered(Hinted, Protocol):
    """A state with a temperature lambda."""

    @property
    def temperature(self) -> Floats: ...


class Sizes(NamedTuple):
    """The largest |g_s(i)|, and the largest |h_s(i) - g_os(i)|: how far the hint was off."""

    loss: float
    miss: float


@compiled
def predict(state: Tempered, prediction: Prediction) -> None:
    """w_t = softmin((G + h_t)/lambda): G are the losses told, h_t the hint."""
    expected, hint = prediction.work[EXPECTED], prediction.work[HINTED]
    fill_hint(state, hint)
    for i in range(hint.shape[0]):
        expected[i] = state.losses[i] + hint[i]
    prediction.eta[0] = 1.0 / state.temperature[0] if state.temperature[0] > 0.0 else np.inf
    softmin(expected, state.temperature[0], prediction.q)
    fill_p(prediction)


@compiled
def freeze(state: Tempered, prediction: Prediction, plays: Floats, own: float) -> None:
    """The round is played: freeze it, and w_t, G, h_t for each arm, and a number of the learner."""
    for i in range(plays.shape[0]):
        plays[i, ROUND] = state.round[0]
        plays[i, WEIGHT] = prediction.q[i]
        plays[i, LOSSES] = state.losses[i]
        plays[i, HINT] = prediction.work[HINTED, i]
        plays[i, FROZEN] = own
    state.round[0] += 1


@compiled
def fill_miss(state: Tempered, miss: Floats) -> Sizes:
    """g_os - h_s: by how much the round told just now was hinted too low, and its sizes.

    g_os is the sum of what was outstanding when s was played, and since rounds are told in the
    order of play it is what has been told since, s being the last.
    """
    largest, furthest = 0.0, 0.0
    for i in range(miss.shape[0]):
        miss[i] = state.losses[i] - state.gathered[LOSSES, i] - state.gathered[HINT, i]
        largest = max(largest, state.gathered[LOSS, i])
        furthest = max(furthest, abs(miss[i]))
    return Sizes(largest, furthest)


@dataclass(frozen=True)
class OptimisticHedge(OptimisticLearner):
    """Hedge with hints; a learner adds how its temperature grows."""

    guarantee: ClassVar[str] = (
        "regret of order sqrt((d + 1) T ln K) if every loss is d rounds late, less with good hints"
    )
    play_width: ClassVar[int] = WIDTH

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1, work=WORK)
