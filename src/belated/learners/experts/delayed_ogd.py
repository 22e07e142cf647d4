"""Delayed online gradient descent of Quanrud and Khashabi (2015), on the probability simplex.

In each round the learner takes one step against the sum of the losses that have arrived, and
projects the result on the nearest distribution. It uses the squared distance where Hedge uses the
entropy, so its regret grows with sqrt(K), not sqrt(ln K), and arms with large losses have no weight
at all.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.learners.experts.simplex import project
from belated.types import Covers, Delivery, Need, Origin, Setting


class DescentState(NamedTuple):
    """State: point is the last play, and arrived sums the losses since then, both by arm.

    losses is the sum of all losses that have arrived. The step size after round t is
    step / sqrt(t - lag); it is step while t <= lag, and always if lag is -1.
    """

    point: Floats
    arrived: Floats
    losses: Floats
    step: Floats
    lag: Counts
    round: Counts


class DescentInfo(NamedTuple):
    """Working space of the projection on the simplex."""

    heap: Floats


def blank_descent(arms: int) -> Prediction:
    """Return an empty prediction for a learner that uses gradient descent."""
    return Prediction.blank(arms, eta=1, info=DescentInfo(heap=np.zeros(arms)))


@compiled
def last_step(state: DescentState) -> float:
    """Return eta_{t-1}, the step size with which round t begins."""
    if state.lag[0] < 0:
        return float(state.step[0])
    return float(state.step[0] / math.sqrt(max(1, state.round[0] - 1 - state.lag[0])))


@compiled
def predict(state: DescentState, prediction: Prediction) -> None:
    """Fill in q_t, the distribution nearest to q_{t-1} - eta_{t-1} h.

    h is the sum of the losses that arrived in round t-1.
    """
    eta, q = last_step(state), prediction.q
    for i in range(q.shape[0]):
        q[i] = state.point[i] - eta * state.arrived[i]
    project(q, prediction.info.heap)
    prediction.eta[0] = eta


@compiled
def commit(state: DescentState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Store q_t as the last play, and start a new sum of arriving losses."""
    for i in range(plays.shape[0]):
        plays[i, 0] = 0.0
        state.point[i] = prediction.q[i]
        state.arrived[i] = 0.0
    state.round[0] += 1


@compiled
def withdraw(state: DescentState, play: Floats, arm: int) -> None:
    """Do nothing: this learner keeps no record of the plays that are outstanding."""


@compiled
def observe(state: DescentState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the loss, which is one coordinate of the gradient, to the next step."""
    state.arrived[arm] += loss
    state.losses[arm] += loss


def descent_start(arms: int, step: float, lag: int) -> DescentState:
    """Return the state before the first round, whose point is the centre of the simplex."""
    return DescentState(
        point=np.full(arms, 1.0 / arms),
        arrived=np.zeros(arms),
        losses=np.zeros(arms),
        step=np.full(1, step),
        lag=np.full(1, lag, dtype=np.int64),
        round=np.ones(1, dtype=np.int64),
    )


@dataclass(frozen=True)
class DelayedOGD(Learner):
    """Gradient descent with the step size that balances the terms of its bound.

    If h_t, the losses that arrive in round t, were the losses of round t, the regret would be at
    most 1/(2 eta) + (eta/2) sum_t |h_t|^2. But a delayed loss belongs to an earlier play. Losses
    are not negative, so a step lowers q(i) by at most eta h(i), whatever the losses of the other
    arms are. Two losses of one arm therefore cost eta if one of them was missing when the play of
    the other was made, and nothing otherwise. Hence

        regret <= 1/(2 eta) + eta K (T/2 + D),  D = sum_t max_i rho_t(i).
    """

    horizon: int = 1
    total_delay: int = 0

    name: ClassVar[str] = "delayed-ogd"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON, Need.TOTAL_DELAY)
    deliveries: ClassVar[tuple[Delivery, ...]] = ("own",)
    guarantee: ClassVar[str] = (
        "regret at most sqrt(K (T + 2D)) if T and D = sum_t max_i rho_t(i) are known"
    )
    covers: ClassVar[Covers] = Covers.ANY
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = "Quanrud and Khashabi 2015 from memory; the constants derived"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = DescentState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)
        self._check_count("total_delay", 0)

    @property
    def rate(self) -> float:
        """The constant step size eta = 1 / sqrt(K (T + 2D))."""
        return 1.0 / math.sqrt(self.arms * (self.horizon + 2.0 * self.total_delay))

    def bound(self, facts: Facts) -> float:
        """Return the regret bound 1/(2 eta) + eta K (T/2 + D), which holds for any eta."""
        return 0.5 / self.rate + self.rate * self.arms * (facts.rounds / 2 + facts.total_delay)

    def start(self) -> DescentState:
        return descent_start(self.arms, self.rate, lag=-1)

    def blank(self) -> Prediction:
        return blank_descent(self.arms)
