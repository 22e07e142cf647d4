"""DUB, the delayed upper bound of Flaspohler et al. (2021), a more cautious AdaHedgeD.

The temperature is derived from an upper bound on the cost of the observed rounds, which depends
only on the sizes of their losses and of the errors of their hints.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Prediction, Verbs
from belated.learners.optimistic.hints import Hints, remember
from belated.learners.optimistic.optimistic_hedge import (
    FROZEN,
    OptimisticHedge,
    fill_miss,
    freeze,
    predict,
)
from belated.learners.whole_rounds import WholeRounds, gather, withdraw


class DubState(NamedTuple):
    """State: rounds.losses is G, the losses of the whole rounds; temperature is lambda.

    Over the whole rounds s, `steps` is the sum of a_s, and `squares` that of a_s^2 + 2 alpha b_s.
    `pending` is the largest sum of a_j over the rounds j < s outstanding when s was played.
    """

    rounds: WholeRounds
    hints: Hints
    temperature: Floats
    miss: Floats
    steps: Floats
    pending: Floats
    squares: Floats


@compiled
def commit(state: DubState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the weights w_t, the losses G, the hint h_t and the sum of a_s over whole rounds."""
    freeze(state.rounds, prediction, plays, state.steps[0])


@compiled
def observe(state: DubState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Store the loss; when its round s is whole, add its a_s and b_s and update lambda.

    lambda = (2 max_s sum_{j outstanding at s, j < s} a_j + sqrt(sum_s a_s^2 + 2 alpha b_s))/alpha,
    with alpha = ln K. Here a_s = 2 min(x, y) and b_s = x^2/2 - max(0, x - y)^2/2, where x is the
    size of the hint's error and y the size of the losses.
    """
    if not gather(state.rounds, play, arm, loss):
        return
    remember(state.rounds, state.hints)
    sizes, alpha = fill_miss(state.rounds, state.miss), math.log(state.miss.shape[0])
    step = 2.0 * min(sizes.miss, sizes.loss)
    excess = max(0.0, sizes.miss - sizes.loss)
    state.pending[0] = max(state.pending[0], state.steps[0] - play[FROZEN])
    state.steps[0] += step
    state.squares[0] += step * step + alpha * (sizes.miss * sizes.miss - excess * excess)
    if alpha > 0.0:
        state.temperature[0] = (2.0 * state.pending[0] + math.sqrt(state.squares[0])) / alpha


@dataclass(frozen=True)
class Dub(OptimisticHedge):
    """DUB, which needs to know nothing beforehand."""

    name: ClassVar[str] = "dub"
    state: ClassVar[type] = DubState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> DubState:
        return DubState(
            rounds=self.no_rounds(),
            hints=self.no_hints(),
            temperature=np.zeros(1),
            miss=np.zeros(self.arms),
            steps=np.zeros(1),
            pending=np.zeros(1),
            squares=np.zeros(1),
        )
