"""Delayed dual averaging with adaptive steps, after Hsieh, Iutzeler, Malick and Mertikopoulos.

Their learners (2020) are agents that hear from each other late; here there is one. It plays the
distribution nearest to minus the sum of the gradients that have arrived, times a step that falls
with the products of gradients that were on their way together. Gradient descent, as in
`delayed-ogd`, changes its last play instead, and must know the sum of the delays.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.learners.experts.overlaps import (
    FROZEN,
    WIDTH,
    OverlappingRounds,
    close_round,
    cost_with_coming_round,
    freeze_round,
    no_overlapping_rounds,
    withdraw_loss,
)
from belated.learners.experts.simplex import project
from belated.learners.whole_rounds import LOSS, gather
from belated.types import Covers, Delivery, Origin, Setting


class DualAveragingState(NamedTuple):
    """State: the rounds played, with the sums of the losses of those that are whole."""

    played: OverlappingRounds


class DualAveragingInfo(NamedTuple):
    """Working space of the projection on the simplex."""

    heap: Floats


@compiled
def predict(state: DualAveragingState, prediction: Prediction) -> None:
    """Fill in q_t, the distribution nearest to -eta_t G, with eta_t = 1/(2 sqrt(A_t))."""
    eta, q = 0.5 / math.sqrt(cost_with_coming_round(state.played.overlaps)), prediction.q
    prediction.eta[0] = eta
    for i in range(q.shape[0]):
        q[i] = -eta * state.played.rounds.losses[i]
    project(q, prediction.info.heap)


@compiled
def commit(state: DualAveragingState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the round and its place in the account."""
    freeze_round(state.played, plays)


@compiled
def withdraw(state: DualAveragingState, play: Floats, arm: int) -> None:
    """Close the round in the account; nothing is learned from a round that lacks a loss."""
    withdraw_loss(state.played, play)


@compiled
def observe(state: DualAveragingState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Store the loss; when its round is whole, add the gradient, and its norm to the account."""
    if gather(state.played.rounds, play, arm, loss):
        square = 0.0
        for each in state.played.rounds.gathered[LOSS]:
            square += each * each
        close_round(state.played.overlaps, play[FROZEN], math.sqrt(square))


@dataclass(frozen=True)
class DelayedDualAveraging(Learner):
    """Dual averaging on the simplex for any number of rounds, with adaptive steps.

    Without delays it would lose 1/(2 eta_T) + sum_t eta_t |g_t|^2/2. A gradient that is missing in
    round t moves q_t by at most eta_t times its norm, which costs that times |g_t|. A_t, with one
    half of each square, is a bound on the sum of these, whatever the account did not know. Hence

        regret <= 1/(2 eta_T) + sum_t eta_t (A_t - A_{t-1}) <= 2 sqrt(A_T).
    """

    name: ClassVar[str] = "delayed-dual-averaging"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    deliveries: ClassVar[tuple[Delivery, ...]] = ("in order",)
    guarantee: ClassVar[str] = (
        "regret at most 2 sqrt(A), A at most K (T/2 + D), less if gradients are small"
    )
    covers: ClassVar[Covers] = Covers.SHARED
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = (
        "after Hsieh et al. 2020; their guarantee read in van der Hoeven et al. 2021, steps and "
        "bound are derived"
    )
    play_width: ClassVar[int] = WIDTH
    state: ClassVar[type] = DualAveragingState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def bound(self, facts: Facts) -> float:
        """Return 2 sqrt(K (T/2 + D)), the bound if all losses were 1."""
        return 2.0 * math.sqrt(self.arms * (0.5 * facts.rounds + facts.total_delay))

    def start(self) -> DualAveragingState:
        norm = math.sqrt(self.arms)
        return DualAveragingState(no_overlapping_rounds(self.arms, share=0.5, norm=norm))

    def losses(self, state: DualAveragingState) -> Floats:
        return state.played.rounds.losses[:, np.newaxis]

    def blank(self) -> Prediction:
        info = DualAveragingInfo(heap=np.zeros(self.arms))
        return Prediction.blank(self.arms, eta=1, info=info)
