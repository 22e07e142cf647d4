"""Centred Hedge: exponential weights in which a missing loss counts as the middle of its range.

For losses in [-1, 1] it is Proposition 8' of docs/beyond-the-paper.md: exponential weights of the
losses as they are, of both signs, so that a missing loss counts as 0. Learners see losses in
[0, 1], where this means that 1/2 is subtracted from each loss that arrives, and that the rate is
doubled.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.learners.experts import adaptive_hedge
from belated.learners.experts.adaptive_hedge import (
    AdaptiveHedge,
    AdaptiveHedgeState,
    charged_now,
)
from belated.numerics.exponential_weights import weigh_exponentially
from belated.types import Covers, Delivery, Setting

MIDDLE = 0.5  # of [0, 1]


class CentredHedgeState(NamedTuple):
    """The state of adaptive Hedge, whose sums are of losses less 1/2."""

    centred: AdaptiveHedgeState


@compiled
def predict(state: CentredHedgeState, prediction: Prediction) -> None:
    """Fill in q_t(i), in proportion to exp(-2 gamma_t L(i)), with gamma_t = sqrt(ln K / A_t).

    A_t is the sum of 1 + max_i rho_s(i) over the rounds s <= t.
    """
    losses = state.centred.losses
    eta = 2.0 * math.sqrt(math.log(losses.shape[0]) / charged_now(state.centred))
    prediction.eta[0] = eta
    weigh_exponentially(losses, eta, prediction.q)


@compiled
def commit(state: CentredHedgeState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Update A_t, and count the losses of the round as missing."""
    adaptive_hedge.commit(state.centred, prediction, arm, plays)


@compiled
def withdraw(state: CentredHedgeState, play: Floats, arm: int) -> None:
    """Count one missing loss fewer for the arm."""
    adaptive_hedge.withdraw(state.centred, play, arm)


@compiled
def observe(state: CentredHedgeState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the loss less 1/2 to L(i), and count one missing loss fewer for the arm."""
    adaptive_hedge.observe(state.centred, play, arm, loss - MIDDLE, missing)


@dataclass(frozen=True)
class CentredHedge(Learner):
    """Hedge for any number of rounds and any delays, which takes what is missing for average."""

    name: ClassVar[str] = "centred-hedge"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    deliveries: ClassVar[tuple[Delivery, ...]] = ("own",)
    guarantee: ClassVar[str] = "regret at most 1.5 sqrt((T + D) ln K), D = sum_t max_i rho_t(i)"
    covers: ClassVar[Covers] = Covers.ANY
    source: ClassVar[str] = "ours, Proposition 8' of docs/beyond-the-paper.md"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = CentredHedgeState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def bound(self, facts: Facts) -> float:
        """Return half of the 3 sqrt(A_T ln K) that is proven for losses in [-1, 1]."""
        return 1.5 * math.sqrt((facts.rounds + facts.total_delay) * math.log(self.arms))

    def start(self) -> CentredHedgeState:
        return CentredHedgeState(AdaptiveHedge(self.arms).start())

    def losses(self, state: CentredHedgeState) -> Floats:
        """Return the sums of what has arrived, less 1/2 for each loss."""
        return state.centred.losses[:, None]

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)
