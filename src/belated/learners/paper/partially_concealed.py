"""The partially concealed bandit (section "Partially concealed bandit setting", th:banditbound).

The log barrier on the arms controls the variance of the estimates, the entropy over (arm, rate)
pairs the cost of delay. With each loss the learner is told how many losses of the same arm were
missing when it was played.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ROUNDS, as_count, checked_prior
from belated.compiled.kernels import compiled, compiled_apart
from belated.ftrl.rates import grid_size, grid_weights, halvings
from belated.learners.contract import PaperLearner, Prediction, SolverInfo, Verbs
from belated.solvers.partially_concealed import WORK, correct_together
from belated.solvers.partially_concealed_safe import (
    solve_log_barrier,
    solve_partially_concealed_safely,
)
from belated.solvers.rate_columns import (
    PLAIN,
    WEIGHED,
    RateColumns,
    chain,
    chain_arm,
    cumulative,
    empty_columns,
    merge,
    merge_again,
    settle,
    spread_over_rates,
)
from belated.types import Need, Setting

PROBABILITY, MAX_MISSING, OUTSTANDING = range(3)  # the columns of a play


class PartiallyConcealedState(NamedTuple):
    """The state of the partially concealed bandit: Lhat^av in columns, and outstanding plays.

    The columns are kept for the rates that belong to max_missing = basis, and their ratios may be
    used if chained is 1. outstanding counts the unanswered plays of each arm, unanswered those of
    all arms; observed is the sum of the losses told. dual is the warm start of the solver.
    """

    columns: RateColumns
    ratios: Floats
    chained: Counts
    basis: Counts
    outstanding: Counts
    unanswered: Counts
    observed: Floats
    max_missing: Counts
    most_outstanding: Counts
    round: Counts
    dual: Floats
    steps: Floats
    log_horizon: Floats
    guarded: Counts


@compiled
def fill_gamma(steps: Floats, max_missing: float, gamma: Floats) -> None:
    """Fill in the rates eq:banditgamma.

    If no loss can be missing they are infinite, which means that there is no entropy.
    """
    if max_missing == 0.0:
        gamma[:] = np.inf
        return
    for j in range(steps.shape[0]):
        gamma[j] = min(1.0 / (4.0 * max_missing), steps[j] / math.sqrt(max_missing))


@compiled
def most_outstanding_now(state: PartiallyConcealedState) -> int:
    """Return the largest number of outstanding plays so far, including the coming round."""
    return int(max(state.most_outstanding[0], state.unanswered[0]))


@compiled
def barrier_rate(state: PartiallyConcealedState) -> float:
    """Return the rate of the barrier, eq:banditeta.

    In the repaired variant, the number of outstanding plays takes the place of max_missing.
    """
    absent = most_outstanding_now(state) if state.guarded[0] == 1 else state.max_missing[0]
    arms = state.outstanding.shape[0]
    return math.sqrt(arms * state.log_horizon[0] / (4.0 * (1.0 + absent + state.observed[0])))


@compiled
def predict(state: PartiallyConcealedState, prediction: Prediction) -> None:
    """Compute q_t by eq:banditpredictions1: q_t(i) is the weight of arm i over all rates."""
    eta, rates = barrier_rate(state), state.columns.rates
    prediction.eta[0] = eta
    for j in range(prediction.gamma.shape[0]):
        prediction.gamma[j] = rates[j]
    same_rates = state.max_missing[0] == state.basis[0]
    if not same_rates:
        fill_gamma(state.steps, float(state.max_missing[0]), prediction.gamma)
    passes = 0
    if same_rates and state.columns.merged[0] > 0 and state.dual[0] < np.inf and eta > 0.0:
        passes = predict_from_rows(state, prediction)
    if passes == 0:
        passes = predict_plainly(state, prediction)
    prediction.info.passes[0] = passes
    if prediction.detailed[0] == 1:
        spread_prediction(state, prediction)


@compiled
def predict_from_rows(state: PartiallyConcealedState, prediction: Prediction) -> int:
    """Compute the argmin from the last one; returns 0 passes if that is too far away."""
    columns, info = state.columns, prediction.info
    rates = columns.rates[columns.merged[0] - 1 :]
    for i in range(state.dual.shape[0]):
        info.dual[i] = state.dual[i]
    return correct_together(
        columns.levels,
        columns.offsets,
        columns.fresh,
        state.ratios,
        state.chained[0] == 1,
        rates,
        prediction.eta[0],
        prediction.q,
        info.dual,
        info.work,
    )


@compiled
def losses_now(state: PartiallyConcealedState) -> Floats:
    """Return Lhat^av of each pair (arm, rate); without entropy the rates count as 0."""
    columns = state.columns
    rates = columns.rates if state.basis[0] > 0 else np.zeros(columns.rates.shape[0])
    return cumulative(columns.losses, columns.fresh, rates)


@compiled_apart
def predict_plainly(state: PartiallyConcealedState, prediction: Prediction) -> int:
    """Compute the argmin by the safe solvers, with the multipliers (c, ln x_1, ..., ln x_K)."""
    losses, eta, dual = losses_now(state), prediction.eta[0], prediction.info.dual
    for i in range(dual.shape[0]):
        dual[i] = state.dual[i]
    if state.max_missing[0] == 0:
        dual[0], passes = solve_log_barrier(losses[:, 0], eta, state.dual[0], prediction.q)
        return passes
    guess = np.empty(dual.shape[0])
    guess[0] = state.dual[0]
    for i in range(1, guess.shape[0]):
        guess[i] = math.log(state.dual[i])
    passes = solve_partially_concealed_safely(
        losses,
        state.columns.log_prior,
        state.columns.log_weight,
        prediction.gamma,
        eta,
        guess,
        np.empty(losses.shape),
        prediction.q,
        dual,
    )
    for i in range(1, dual.shape[0]):
        dual[i] = math.exp(dual[i])
    return passes


@compiled_apart
def spread_prediction(state: PartiallyConcealedState, prediction: Prediction) -> None:
    """Fill in p, the weight of each pair (arm, rate).

    In the centre of the barrier an arm's weight is spread in proportion to the prior of the rates;
    without entropy all of it is on the first rate.
    """
    losses, q, p, dual = losses_now(state), prediction.q, prediction.p, prediction.info.dual
    log_weight = state.columns.log_weight
    for i in range(q.shape[0]):
        if state.max_missing[0] > 0 and dual[0] < np.inf:
            y = dual[0] + dual[1 + i]
            spread_over_rates(losses[i], log_weight, prediction.gamma, y, q[i], p[i])
            continue
        for j in range(p.shape[1]):
            share = 1.0 if j == 0 else 0.0
            if state.max_missing[0] > 0:
                share = math.exp(log_weight[j])
            p[i, j] = q[i] * share


@compiled
def commit(state: PartiallyConcealedState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Play the round: freeze q_t(i_t), max_missing and the number of the arm's outstanding plays.

    The multipliers are kept as the next warm start.
    """
    state.most_outstanding[0] = most_outstanding_now(state)
    plays[0, PROBABILITY] = prediction.q[arm]
    plays[0, MAX_MISSING] = state.max_missing[0]
    plays[0, OUTSTANDING] = state.outstanding[arm]
    state.outstanding[arm] += 1
    state.unanswered[0] += 1
    state.round[0] += 1
    for i in range(state.dual.shape[0]):
        state.dual[i] = prediction.info.dual[i]
    if state.columns.merged[0] == 0 or state.basis[0] != state.max_missing[0]:
        begin_rates(state)


@compiled_apart
def begin_rates(state: PartiallyConcealedState) -> None:
    """Convert the losses to the rates of the present max_missing, if there is an entropy."""
    columns = state.columns
    if state.basis[0] > 0:
        settle(columns)
    state.basis[0] = state.max_missing[0]
    fill_gamma(state.steps, float(state.basis[0]), columns.rates)
    columns.merged[0] = 0
    if state.basis[0] > 0:
        merge(columns)
        rates = columns.rates[columns.merged[0] - 1 :]
        usable = chain(rates, columns.levels, columns.offsets, state.ratios)
        state.chained[0] = 1 if usable and rates.shape[0] > 3 else 0


@compiled
def withdraw(state: PartiallyConcealedState, play: Floats, arm: int) -> None:
    """Remove a play of an arm from its outstanding plays."""
    state.outstanding[arm] -= 1
    state.unanswered[0] -= 1


@compiled
def observe(
    state: PartiallyConcealedState, play: Floats, arm: int, loss: float, missing: int
) -> None:
    """Add lhat_s = ltil_s (1 + 4 gamma rho_s(i_s)) of eq:correctionbandit, ltil_s = l / q_s."""
    withdraw(state, play, arm)
    state.observed[0] += loss
    estimate = loss / play[PROBABILITY]
    if play[MAX_MISSING] == state.basis[0] and play[MAX_MISSING] > 0.0:
        state.columns.fresh[PLAIN, arm] += estimate
        state.columns.fresh[WEIGHED, arm] += estimate * missing
    elif loss > 0.0:
        observe_late(state, play, arm, estimate, missing)


@compiled_apart
def observe_late(
    state: PartiallyConcealedState, play: Floats, arm: int, estimate: float, missing: int
) -> None:
    """Add the estimate of a round whose rates are no longer in force, or that had none."""
    columns, gamma = state.columns, np.empty(state.steps.shape[0])
    fill_gamma(state.steps, play[MAX_MISSING], gamma)
    for j in range(gamma.shape[0]):
        correction = 4.0 * gamma[j] * estimate * missing if play[MAX_MISSING] > 0.0 else 0.0
        columns.losses[j, arm] += estimate + correction
    if columns.merged[0] > 0:
        merge_again(columns, arm)
        rates = columns.rates[columns.merged[0] - 1 :]
        if not chain_arm(rates, columns.levels, columns.offsets, state.ratios, arm):
            state.chained[0] = 0


@dataclass(frozen=True)
class PartiallyConcealed(PaperLearner):
    """The paper's partially concealed bandit; `variant="repaired"` guards the barrier's rate.

    The proof of th:banditbound takes the outstanding plays to be at most max_missing, but they may
    be spread over all arms; the guard counts them.
    """

    horizon: int = 1
    max_missing: int = 0
    prior: Sequence[float] | None = None

    name: ClassVar[str] = "partially-concealed"
    setting: ClassVar[Setting] = Setting.PARTIALLY_CONCEALED
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON, Need.MAX_MISSING)
    guarantee: ClassVar[str] = (
        "expected regret O~(sqrt(K <u,L>) + sqrt((KL(u,pi) + ln T) <u,L^rho>) + K + max_missing) "
        "for every u (Theorem 2 of the paper, whose proof has gaps: docs/errata.md)"
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
        steps = scale * halvings(size)
        rates = np.empty(size)
        fill_gamma(steps, float(self.max_missing), rates)
        log_prior = np.log(np.array(self.prior))
        return PartiallyConcealedState(
            columns=empty_columns(rates, log_prior, np.log(grid_weights(size))),
            ratios=np.zeros((size, self.arms)),
            chained=np.zeros(1, dtype=np.int64),
            basis=np.full(1, self.max_missing, dtype=np.int64),
            outstanding=np.zeros(self.arms, dtype=np.int64),
            unanswered=np.zeros(1, dtype=np.int64),
            observed=np.zeros(1),
            max_missing=np.full(1, self.max_missing, dtype=np.int64),
            most_outstanding=np.zeros(1, dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
            dual=np.full(1 + self.arms, np.inf),
            steps=steps,
            log_horizon=np.full(1, math.log(self.horizon)),
            guarded=np.full(1, int(self.variant == "repaired"), dtype=np.int64),
        )

    def losses(self, state: PartiallyConcealedState) -> Floats:
        return losses_now(state)

    def own_missing(self, play: Sequence[float] | Floats) -> int:
        return int(play[OUTSTANDING])

    def blank(self) -> Prediction:
        size = grid_size(self.horizon)
        info = SolverInfo.blank(self.arms, dual=1 + self.arms, work=WORK)
        return Prediction.blank(self.arms, rates=size, eta=1, gamma=size, info=info)

    def from_version_3(self, parts: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """Rearrange the parts of a state saved in version 3: the columns' parts are put first."""
        first = ("losses", "fresh", "levels", "offsets", "merged", "rates")
        order = dict.fromkeys((*first, "log_prior", "log_weight", *parts))
        return {name: parts[name] for name in order}
