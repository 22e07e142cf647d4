"""The partially concealed bandit (section "Partially concealed bandit setting", th:banditbound).

The log barrier on the arms controls the variance of the estimates, the entropy over (arm, rate)
pairs the cost of delay. With each loss the learner is told how many of its arm were missing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.ftrl.rates import grid_size, grid_weights, halvings
from belated.kernels.compile import compiled
from belated.kernels.partially_concealed import solve_log_barrier, solve_partially_concealed
from belated.learners.learner import (
    Counts,
    Floats,
    Learner,
    Prediction,
    Verbs,
)
from belated.types import Setting
from belated.values import MOST_ROUNDS, as_count, checked_prior


class PartiallyConcealedState(NamedTuple):
    """losses is Lhat^av (arm, rate); outstanding counts the learner's own unanswered plays."""

    losses: Floats
    outstanding: Counts
    observed: Floats
    max_missing: Counts
    most_outstanding: Counts
    round: Counts
    dual: Floats
    log_prior: Floats
    log_weight: Floats
    steps: Floats
    log_horizon: Floats
    guarded: Counts


@compiled
def fill_gamma(steps: Floats, max_missing: float, gamma: Floats) -> None:
    """eq:banditgamma; infinite, which is no entropy at all, if nothing can be missing."""
    if max_missing == 0.0:
        gamma[:] = np.inf
        return
    for j in range(steps.shape[0]):
        gamma[j] = min(1.0 / (4.0 * max_missing), steps[j] / math.sqrt(max_missing))


@compiled
def most_outstanding_now(state: PartiallyConcealedState) -> int:
    """The largest number of outstanding plays so far, the round to come included."""
    return int(max(state.most_outstanding[0], state.outstanding.sum()))


@compiled
def barrier_rate(state: PartiallyConcealedState) -> float:
    """eq:banditeta; guarded (repaired), outstanding plays stand in for max_missing."""
    absent = most_outstanding_now(state) if state.guarded[0] == 1 else state.max_missing[0]
    arms = state.outstanding.shape[0]
    return math.sqrt(arms * state.log_horizon[0] / (4.0 * (1.0 + absent + state.observed[0])))


@compiled
def predict(state: PartiallyConcealedState, prediction: Prediction) -> None:
    """eq:banditpredictions1: q_t(i) is the weight of arm i over all rates."""
    eta = barrier_rate(state)
    prediction.eta[0] = eta
    fill_gamma(state.steps, float(state.max_missing[0]), prediction.gamma)
    if state.max_missing[0] == 0:
        prediction.dual[:] = state.dual
        c = solve_log_barrier(state.losses[:, 0], eta, state.dual[0], prediction.q)
        prediction.dual[0] = c
        prediction.p[:, :] = 0.0
        prediction.p[:, 0] = prediction.q
        return
    solve_partially_concealed(
        state.losses,
        state.log_prior,
        state.log_weight,
        prediction.gamma,
        eta,
        state.dual,
        prediction.p,
        prediction.q,
        prediction.dual,
    )


@compiled
def commit(state: PartiallyConcealedState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze q_t(i_t), max_missing and the arm's outstanding plays; this one now is, too."""
    state.most_outstanding[0] = most_outstanding_now(state)
    plays[0, 0] = prediction.q[arm]
    plays[0, 1] = state.max_missing[0]
    plays[0, 2] = state.outstanding[arm]
    state.outstanding[arm] += 1
    state.round[0] += 1
    state.dual[:] = prediction.dual


@compiled
def withdraw(state: PartiallyConcealedState, play: Floats, arm: int) -> None:
    """The play is no longer outstanding."""
    state.outstanding[arm] -= 1


@compiled
def observe(
    state: PartiallyConcealedState, play: Floats, arm: int, loss: float, missing: int
) -> None:
    """Add lhat_s = ltil_s (1 + 4 gamma rho_s(i_s)) of eq:correctionbandit, ltil_s = l / q_s."""
    withdraw(state, play, arm)
    state.observed[0] += loss
    estimate = loss / play[0]
    gamma = np.empty(state.steps.shape[0])
    fill_gamma(state.steps, play[1], gamma)
    for j in range(gamma.shape[0]):
        correction = 4.0 * gamma[j] * estimate * missing if play[1] > 0.0 else 0.0
        state.losses[arm, j] += estimate + correction


@dataclass(frozen=True)
class PartiallyConcealed(Learner):
    """The paper's partially concealed bandit; `variant="repaired"` guards the barrier's rate.

    The proof of th:banditbound takes the outstanding plays to be at most max_missing, but they may
    be spread over all arms; the guard counts them.
    """

    horizon: int = 1
    max_missing: int = 0
    prior: Sequence[float] | None = None

    name: ClassVar[str] = "partially-concealed"
    setting: ClassVar[Setting] = Setting.PARTIALLY_CONCEALED
    needs: ClassVar[str] = "horizon, max_missing; with each loss the missing count of its arm"
    guarantee: ClassVar[str] = (
        "expected regret O~(sqrt(K <u,L>) + sqrt((KL(u,pi) + ln T) <u,L^rho>) + K + max_missing) "
        "for every u (th:banditbound, whose proof has gaps: docs/errata.md)"
    )
    play_width: ClassVar[int] = 3
    state: ClassVar[type] = PartiallyConcealedState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        horizon = as_count(self.horizon, "horizon", 1, MOST_ROUNDS)
        object.__setattr__(self, "horizon", horizon)
        most = as_count(self.max_missing, "max_missing", 0, MOST_ROUNDS)
        object.__setattr__(self, "max_missing", most)
        prior = checked_prior(self.prior, self.arms)
        object.__setattr__(self, "prior", prior)
        if min(prior) == 0.0:
            raise ValueError("prior holds 0.0; in this setting every weight must be above 0")

    def start(self) -> PartiallyConcealedState:
        size = grid_size(self.horizon)
        scale = math.sqrt(math.log(self.arms) + math.log(self.horizon) + 1.0) / 4.0
        return PartiallyConcealedState(
            losses=np.zeros((self.arms, size)),
            outstanding=np.zeros(self.arms, dtype=np.int64),
            observed=np.zeros(1),
            max_missing=np.full(1, self.max_missing, dtype=np.int64),
            most_outstanding=np.zeros(1, dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
            dual=np.full(1 + self.arms, np.inf),
            log_prior=np.log(np.array(self.prior)),
            log_weight=np.log(grid_weights(size)),
            steps=scale * halvings(size),
            log_horizon=np.full(1, math.log(self.horizon)),
            guarded=np.full(1, int(self.variant == "repaired"), dtype=np.int64),
        )

    def blank(self) -> Prediction:
        size = grid_size(self.horizon)
        return Prediction(
            q=np.empty(self.arms),
            p=np.empty((self.arms, size)),
            eta=np.empty(1),
            gamma=np.empty(size),
            dual=np.empty(1 + self.arms),
        )
