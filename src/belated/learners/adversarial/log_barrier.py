"""FTRL with the log-barrier regularizer (Foster, Li, Lykouris, Sridharan and Tardos, 2016).

Its regret grows with the loss of the best arm rather than with the rounds: where some arm is very
good, it is soon found. It takes no notice of delays, and is fed in the order of arrival.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_number
from belated.compiled.jit import compiled
from belated.learners.adversarial.exp3 import observe, withdraw
from belated.learners.contract import Facts, Learner, Prediction, SolverInfo, Verbs
from belated.solvers.partially_concealed_safe import solve_log_barrier
from belated.types import Covers, Need, Setting


class LogBarrierState(NamedTuple):
    """losses is the sum of the estimates that have arrived, by arm; rate is eta."""

    losses: Floats
    rate: Floats
    round: Counts
    dual: Floats


@compiled
def predict(state: LogBarrierState, prediction: Prediction) -> None:
    """q_t(i) = 1/(eta (L(i) - c)), with c such that they sum to 1."""
    prediction.eta[0] = state.rate[0]
    info = prediction.info
    info.dual[0], info.passes[0] = solve_log_barrier(
        state.losses, state.rate[0], state.dual[0], prediction.q
    )


@compiled
def commit(state: LogBarrierState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze q_t(i_t), the probability of the play."""
    plays[0, 0] = prediction.q[arm]
    state.dual[0] = prediction.info.dual[0]
    state.round[0] += 1


@dataclass(frozen=True)
class LogBarrier(Learner):
    """The log barrier at one rate, for a horizon T and the loss of the best arm, T if not given."""

    horizon: int = 1
    best_loss: float | None = None

    name: ClassVar[str] = "log-barrier"
    setting: ClassVar[Setting] = Setting.CONCEALED
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON,)
    guarantee: ClassVar[str] = (
        "expected regret at most (K-1) ln T/eta + eta T/2 + 1 without delays; none with delays"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    source: ClassVar[str] = "Foster et al. 2016, rate from memory; the bound is derived"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = LogBarrierState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)
        if self.best_loss is not None and as_number(self.best_loss, "best_loss") < 0.0:
            raise ValueError(f"best_loss is {self.best_loss!r}; it must be at least 0")

    @property
    def rate(self) -> float:
        """min{1/2, sqrt(K ln T / L*)}; with one round it is 0, an infinitely strong barrier."""
        best = self.horizon if self.best_loss is None else self.best_loss
        cost = self.arms * math.log(self.horizon)
        return 0.5 if best == 0.0 else min(0.5, math.sqrt(cost / best))

    def start(self) -> LogBarrierState:
        return LogBarrierState(
            losses=np.zeros(self.arms),
            rate=np.full(1, self.rate),
            round=np.ones(1, dtype=np.int64),
            dual=np.full(1, np.inf),
        )

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1, info=SolverInfo.blank(self.arms, dual=1))

    def bound(self, facts: Facts) -> float:
        """(K-1) ln T/eta + 1 for an arm mixed with 1/T of all, eta/2 l_t(i_t)^2 a round.

        The latter sum to at most T, and to at most the loss of the best arm and the regret.
        """
        if self.rate == 0.0:
            return float(facts.rounds)
        start = (facts.arms - 1) * math.log(facts.rounds) / self.rate + 1.0
        by_rounds = start + self.rate * facts.rounds / 2.0
        by_loss = (start + self.rate * facts.best_loss / 2.0) / (1.0 - self.rate / 2.0)
        return min(by_rounds, by_loss)
