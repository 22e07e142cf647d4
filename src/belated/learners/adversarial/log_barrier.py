"""FTRL with the log-barrier regularizer (Foster, Li, Lykouris, Sridharan and Tardos, 2016).

Its regret grows with the loss of the best arm rather than with the number of rounds, so that it
soon finds an arm that is very good. It ignores delays and uses each loss as it arrives.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_number
from belated.compiled.kernels import compiled
from belated.learners.adversarial.exp3 import observe, withdraw
from belated.learners.contract import Facts, Learner, Prediction, SolverInfo, Verbs
from belated.solvers.partially_concealed_safe import solve_log_barrier
from belated.types import Covers, Need, Origin, Setting


class LogBarrierState(NamedTuple):
    """State: losses is the sum of the loss estimates that have arrived, by arm; rate is eta.

    dual is the solver's last multiplier, with which the next solution starts.
    """

    losses: Floats
    rate: Floats
    round: Counts
    dual: Floats


@compiled
def predict(state: LogBarrierState, prediction: Prediction) -> None:
    """Fill in q_t(i) = 1/(eta (L(i) - c)), with the c for which the weights sum to 1."""
    prediction.eta[0] = state.rate[0]
    info = prediction.info
    info.dual[0], info.passes[0] = solve_log_barrier(
        state.losses, state.rate[0], state.dual[0], prediction.q
    )


@compiled
def commit(state: LogBarrierState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze q_t(i_t), the probability with which the arm was drawn."""
    plays[0, 0] = prediction.q[arm]
    state.dual[0] = prediction.info.dual[0]
    state.round[0] += 1


@dataclass(frozen=True)
class LogBarrier(Learner):
    """FTRL with the log barrier at a constant rate, tuned to the horizon T and the loss L*.

    L* is the loss of the best arm, given as `best_loss`; without it, it is taken to be T.
    """

    horizon: int = 1
    best_loss: float | None = None

    name: ClassVar[str] = "log-barrier"
    setting: ClassVar[Setting] = Setting.CONCEALED
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON,)
    guarantee: ClassVar[str] = (
        "expected regret at most (K-1) ln T/eta + eta T/2 + 1 without delays; none with delays"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.DERIVED
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
        """The rate eta = min{1/2, sqrt(K ln T / L*)}; it is 0, which is uniform play, if T is 1."""
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
        """Bound the regret by (K-1) ln T/eta + 1 plus eta/2 l_t(i_t)^2 in each round.

        The first part compares with the best arm, mixed with a share 1/T of uniform play. The
        squares l_t(i_t)^2 sum to at most T, and to at most the loss of the best arm plus the
        regret; the smaller of the two resulting bounds is returned.
        """
        if self.rate == 0.0:
            return float(facts.rounds)
        start = (facts.arms - 1) * math.log(facts.rounds) / self.rate + 1.0
        by_rounds = start + self.rate * facts.rounds / 2.0
        by_loss = (start + self.rate * facts.best_loss / 2.0) / (1.0 - self.rate / 2.0)
        return min(by_rounds, by_loss)
