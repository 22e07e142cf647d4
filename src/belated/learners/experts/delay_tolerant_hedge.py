"""Delay-tolerant Hedge: exponential weights whose rate counts the losses that overlapped.

After the reduction of Joulani, Gyorgy and Szepesvari (2016), by which any adaptive learner is fed
with what arrives, with steps from the products of gradients that were on their way together. Here
it is the case of experts. Where `adaptive-hedge` counts every missing loss as 1, this learner
counts the largest loss of each round as soon as it knows it, so that small losses cost little.
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
from belated.learners.whole_rounds import LOSS, gather
from belated.numerics.exponential_weights import weigh_exponentially
from belated.types import Covers, Delivery, Origin, Setting


class DelayTolerantHedgeState(NamedTuple):
    """State: the rounds played, with the sums of the losses of those that are whole."""

    played: OverlappingRounds


@compiled
def predict(state: DelayTolerantHedgeState, prediction: Prediction) -> None:
    """Fill in q_t(i), in proportion to exp(-eta_t L(i)), with eta_t = sqrt(ln K / (2 A_t))."""
    losses = state.played.rounds.losses
    cost = cost_with_coming_round(state.played.overlaps)
    eta = math.sqrt(math.log(losses.shape[0]) / (2.0 * cost))
    prediction.eta[0] = eta
    weigh_exponentially(losses, eta, prediction.q)


@compiled
def commit(state: DelayTolerantHedgeState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the round and its place in the account."""
    freeze_round(state.played, plays)


@compiled
def withdraw(state: DelayTolerantHedgeState, play: Floats, arm: int) -> None:
    """Close the round in the account; nothing is learned from a round that lacks a loss."""
    withdraw_loss(state.played, play)


@compiled
def observe(
    state: DelayTolerantHedgeState, play: Floats, arm: int, loss: float, missing: int
) -> None:
    """Store the loss; when its round is whole, add its losses, and their largest to the account."""
    if gather(state.played.rounds, play, arm, loss):
        close_round(state.played.overlaps, play[FROZEN], state.played.rounds.gathered[LOSS].max())


@dataclass(frozen=True)
class DelayTolerantHedge(Learner):
    """Hedge for any number of rounds, with a rate that adapts to losses and delays.

    The weights computed from all losses up to round t differ from q_t(i) by at most eta_t q_t(i)
    (l_t(i) + missing losses of i). So round t costs at most eta_t times its largest loss times
    (that loss and the largest ones of all rounds missing at t). As A_t is a bound on the sum of
    these, whatever the account did not know,

        regret <= ln K / eta_T + sum_t eta_t (A_t - A_{t-1}) <= 2 sqrt(2 A_T ln K).
    """

    name: ClassVar[str] = "delay-tolerant-hedge"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    deliveries: ClassVar[tuple[Delivery, ...]] = ("in order",)
    guarantee: ClassVar[str] = (
        "regret at most 2 sqrt(2 A ln K), A at most T + D, less if losses are small"
    )
    covers: ClassVar[Covers] = Covers.SHARED
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = (
        "after Joulani, Gyorgy and Szepesvari 2016, not read; steps and bound are derived"
    )
    play_width: ClassVar[int] = WIDTH
    state: ClassVar[type] = DelayTolerantHedgeState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def bound(self, facts: Facts) -> float:
        """Return 2 sqrt(2 (T + D) ln K), the bound if all losses were 1."""
        return 2.0 * math.sqrt(2.0 * (facts.rounds + facts.total_delay) * math.log(self.arms))

    def start(self) -> DelayTolerantHedgeState:
        return DelayTolerantHedgeState(no_overlapping_rounds(self.arms, share=1.0, norm=1.0))

    def losses(self, state: DelayTolerantHedgeState) -> Floats:
        return state.played.rounds.losses[:, np.newaxis]

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)
