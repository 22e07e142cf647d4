"""Thompson sampling on the rewards that have arrived.

The algorithm is from Thompson 1933; with late rewards, from Chapelle and Li 2011. Each arm is
played with the probability that its mean is the largest, given the rewards that have arrived. The
learner draws no random numbers: it computes these probabilities by numerical integration.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Prediction, Verbs
from belated.learners.states import ArmCounts, ArmFloats
from belated.learners.stochastic.posterior import (
    FAILURES,
    LOG_BETA,
    SUCCESSES,
    fill_chances,
    log_beta,
    lower_end,
    spread_of,
    upper_end,
)
from belated.learners.stochastic.stochastic import StochasticLearner
from belated.numerics.exact_sums import add_exactly
from belated.numerics.largest_chances import CHANCE, DENSITY, SURVIVAL, WORK
from belated.types import Origin


class ThompsonState(NamedTuple):
    """State, by arm: the number of arrived rewards, their exact sum, and facts of the posterior.

    lower and upper are the ends of the posterior in log-odds, spread is its spread, and log_beta is
    the logarithm of its normalising constant.
    """

    observed: ArmCounts
    rewards: ArmFloats
    lower: ArmFloats
    upper: ArmFloats
    spread: ArmFloats
    log_beta: ArmFloats
    round: Counts


class ThompsonInfo(NamedTuple):
    """Working space of the numerical integration (see `largest_chances`)."""

    work: Floats


@compiled
def predict(state: ThompsonState, prediction: Prediction) -> None:
    """Fill in q_t(i) = P(theta_i is the largest), with theta_i from Beta(1 + S_i, 1 + F_i)."""
    work, q, low = prediction.info.work, prediction.q, state.lower.max()
    high, least, count = low, np.inf, 0
    for i in range(q.shape[0]):
        if state.upper[i] > low:
            reward = state.rewards[0, i] + state.rewards[1, i]
            work[SUCCESSES, count] = 1.0 + reward
            work[FAILURES, count] = 1.0 + (state.observed[i] - reward)
            work[LOG_BETA, count] = state.log_beta[i]
            for row in range(SURVIVAL, DENSITY + 6):
                work[row, count] = 0.0
            high, least = max(high, state.upper[i]), min(least, state.spread[i])
            count += 1
    fill_chances(work, count, low, high, least)
    share_out(state, low, prediction)


@compiled
def share_out(state: ThompsonState, low: float, prediction: Prediction) -> None:
    """Fill q with the chances of the arms that may be the best, scaled to sum to one."""
    q, sum_, place = prediction.q, 0.0, 0
    for i in range(q.shape[0]):
        q[i] = 0.0
        if state.upper[i] > low:
            q[i] = max(0.0, prediction.info.work[CHANCE, place])
            place += 1
        sum_ += q[i]
    for i in range(q.shape[0]):
        q[i] /= sum_


@compiled
def commit(state: ThompsonState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the round; nothing has to be frozen."""
    state.round[0] += 1
    plays[0, 0] = 0.0


@compiled
def withdraw(state: ThompsonState, play: Floats, arm: int) -> None:
    """Do nothing: this learner counts only the rewards that arrive."""


@compiled
def observe(state: ThompsonState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add 1 - l to the arm's successes S and l to its failures F, and update its posterior."""
    state.observed[arm] += 1
    add_exactly(state.rewards, arm, 1.0 - loss)
    reward = state.rewards[0, arm] + state.rewards[1, arm]
    a, b = 1.0 + reward, 1.0 + (state.observed[arm] - reward)
    state.lower[arm] = lower_end(a, b)
    state.upper[arm] = upper_end(a, b)
    state.spread[arm] = spread_of(a, b)
    state.log_beta[arm] = log_beta(a, b)


@dataclass(frozen=True)
class Thompson(StochasticLearner):
    """Thompson sampling with uniform priors.

    A loss between 0 and 1 counts in part as a success and in part as a failure, where the original
    algorithm decides at random. The probabilities are accurate to 1e-6. A round costs O(K N), where
    K counts the arms that may still be the best and N is fifty to a few hundred integration nodes.
    This is far more than other learners need.
    """

    name: ClassVar[str] = "thompson"
    guarantee: ClassVar[str] = "none with delays; without, optimal for stochastic losses"
    origin: ClassVar[Origin] = Origin.MEMORY
    source: ClassVar[str] = "Chapelle and Li 2011, from memory; fractional counts are ours"
    play_width: ClassVar[int] = 1
    can_change_arms: ClassVar[bool] = True
    can_leave_arms_out: ClassVar[bool] = True
    state: ClassVar[type] = ThompsonState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> ThompsonState:
        return ThompsonState(
            observed=np.zeros(self.arms, dtype=np.int64),
            rewards=np.zeros((2, self.arms)),
            lower=np.full(self.arms, lower_end(1.0, 1.0)),
            upper=np.full(self.arms, upper_end(1.0, 1.0)),
            spread=np.full(self.arms, spread_of(1.0, 1.0)),
            log_beta=np.zeros(self.arms),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, info=ThompsonInfo(work=np.zeros((WORK, self.arms))))
