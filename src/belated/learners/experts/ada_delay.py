"""AdaDelay of Sra, Yu, Li and Smola (2016), on the probability simplex.

Gradient descent whose step for a gradient shrinks with the delay that this gradient had. It is made
for stochastic gradients that many machines compute with random delays; against an adversary nothing
is proven. Here the gradient is the vector of the losses of a round, when all of them are there.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.checks import as_number
from belated.compiled.kernels import compiled
from belated.learners.contract import Learner, Prediction, Verbs
from belated.learners.experts.simplex import project
from belated.learners.whole_rounds import (
    LOSS,
    ROUND,
    WholeRounds,
    gather,
    no_rounds,
    withdraw,
)
from belated.types import Covers, Delivery, Origin, Setting

WIDTH = 1  # a play freezes its round


class AdaDelayState(NamedTuple):
    """State: point is x_t, by arm; divisor is c, and heap is working space of the projection."""

    rounds: WholeRounds
    point: Floats
    divisor: Floats
    heap: Floats


@compiled
def predict(state: AdaDelayState, prediction: Prediction) -> None:
    """Fill in q_t = x_t, and the step that the next gradient would make if it were prompt."""
    for i in range(prediction.q.shape[0]):
        prediction.q[i] = state.point[i]
    prediction.eta[0] = 1.0 / (state.divisor[0] * math.sqrt(state.rounds.round[0]))


@compiled
def commit(state: AdaDelayState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the round."""
    for i in range(plays.shape[0]):
        plays[i, ROUND] = state.rounds.round[0]
    state.rounds.round[0] += 1


@compiled
def observe(state: AdaDelayState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Store the loss; when its round is whole, take the step 1/(c sqrt(t + tau)) and project.

    t is the round at whose end the gradient arrives, and tau its delay.
    """
    if gather(state.rounds, play, arm, loss):
        now = state.rounds.round[0] - 1
        delay = now - state.rounds.told.latest[0]
        step = 1.0 / (state.divisor[0] * math.sqrt(now + delay))
        for i in range(state.point.shape[0]):
            state.point[i] -= step * state.rounds.gathered[LOSS, i]
        project(state.point, state.heap)


@dataclass(frozen=True)
class AdaDelay(Learner):
    """AdaDelay for linear losses; its constant c is `scale` times sqrt(K), the largest gradient."""

    scale: float = 1.0

    name: ClassVar[str] = "ada-delay"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    deliveries: ClassVar[tuple[Delivery, ...]] = ("in order",)
    guarantee: ClassVar[str] = (
        "none against an adversary; for stochastic gradients with random delays of mean tau its "
        "authors prove an order of (1 + tau) sqrt(T)"
    )
    covers: ClassVar[Covers] = Covers.NOTHING
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Sra et al. 2016, read; its constant is ours"
    play_width: ClassVar[int] = WIDTH
    state: ClassVar[type] = AdaDelayState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        scale = as_number(self.scale, "scale")
        if not scale > 0.0:
            raise ValueError(f"scale is {scale!r}; it must be above 0")
        object.__setattr__(self, "scale", scale)

    def start(self) -> AdaDelayState:
        return AdaDelayState(
            rounds=no_rounds(self.arms, WIDTH),
            point=np.full(self.arms, 1.0 / self.arms),
            divisor=np.full(1, self.scale * math.sqrt(self.arms)),
            heap=np.zeros(self.arms),
        )

    def losses(self, state: AdaDelayState) -> Floats:
        return state.rounds.losses[:, np.newaxis]

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)
