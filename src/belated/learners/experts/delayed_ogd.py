"""Delayed online gradient descent of Quanrud and Khashabi (2015), on the probability simplex.

Each round one step against the sum of all losses that have arrived, and back to the nearest
distribution. It measures distance by a square, where Hedge has the entropy: its regret grows with
sqrt(K), not sqrt(ln K), and arms that are far behind have no weight at all.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.learners.experts.simplex import project
from belated.types import Covers, Delivery, Need, Setting


class DescentState(NamedTuple):
    """point is the last play, arrived the losses that came since, both by arm; losses is their sum.

    The step after round t is step / sqrt(t - lag), or step alone until then and if lag is -1.
    """

    point: Floats
    arrived: Floats
    losses: Floats
    step: Floats
    lag: Counts
    round: Counts


class DescentInfo(NamedTuple):
    """Working space of the projection."""

    heap: Floats


def blank_descent(arms: int) -> Prediction:
    """An empty prediction of a learner that descends."""
    return Prediction.blank(arms, eta=1, info=DescentInfo(heap=np.zeros(arms)))


@compiled
def last_step(state: DescentState) -> float:
    """eta_{t-1}, with which round t begins."""
    if state.lag[0] < 0:
        return float(state.step[0])
    return float(state.step[0] / math.sqrt(max(1, state.round[0] - 1 - state.lag[0])))


@compiled
def predict(state: DescentState, prediction: Prediction) -> None:
    """q_t is the distribution nearest to q_{t-1} - eta_{t-1} h, h what came in round t-1."""
    eta, q = last_step(state), prediction.q
    for i in range(q.shape[0]):
        q[i] = state.point[i] - eta * state.arrived[i]
    project(q, prediction.info.heap)
    prediction.eta[0] = eta


@compiled
def commit(state: DescentState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """The step is taken."""
    for i in range(plays.shape[0]):
        plays[i, 0] = 0.0
        state.point[i] = prediction.q[i]
        state.arrived[i] = 0.0
    state.round[0] += 1


@compiled
def withdraw(state: DescentState, play: Floats, arm: int) -> None:
    """Nothing is counted while it is outstanding."""


@compiled
def observe(state: DescentState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """The gradient is the loss; its coordinate is one of the next step."""
    state.arrived[arm] += loss
    state.losses[arm] += loss


def descent_start(arms: int, step: float, lag: int) -> DescentState:
    """The centre of the simplex, before the first round."""
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
    """Gradient descent at the step that balances its bound.

    If h_t, what arrives in round t, were lost there, the regret would be at most
    1/(2 eta) + (eta/2) sum_t |h_t|^2. But a loss that waits belongs to an earlier play. Losses are
    not negative, so that a step lowers q(i) by at most eta h(i), whatever is lost by other arms:
    two losses of one arm cost eta if one was missing when the other was made, else nothing. Hence

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
        """eta = 1 / sqrt(K (T + 2D))."""
        return 1.0 / math.sqrt(self.arms * (self.horizon + 2.0 * self.total_delay))

    def bound(self, facts: Facts) -> float:
        """1/(2 eta) + eta K (T/2 + D), for any eta."""
        return 0.5 / self.rate + self.rate * self.arms * (facts.rounds / 2 + facts.total_delay)

    def start(self) -> DescentState:
        return descent_start(self.arms, self.rate, lag=-1)

    def blank(self) -> Prediction:
        return blank_descent(self.arms)
