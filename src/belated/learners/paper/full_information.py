"""The full-information learner: delayed experts (section "Full information", th:fullinfobound).

Each expert is copied once for each learning rate of a grid, and Algorithm 1 learns over all pairs.
A loss that arrives is raised by a correction that grows with the losses missing when it was made.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ROUNDS, as_count, checked_prior
from belated.compiled.jit import compiled, compiled_apart
from belated.ftrl.rates import grid_size, grid_weights, halvings
from belated.learners.contract import PaperLearner, Prediction, Verbs
from belated.solvers.full_information import NEAR, carry_full_information, solve_full_information
from belated.solvers.full_information_safe import solve_full_information_safely
from belated.solvers.rate_columns import (
    PLAIN,
    WEIGHED,
    cumulative,
    merge,
    merge_again,
    settle,
    spread_over_rates,
    unmerged,
)
from belated.types import Need, Setting

MOST_CARRIED = 64.0  # rounds, in each of which a weight is rounded three times at most


class FullInformationState(NamedTuple):
    """missing is rho_t; most_missing is rho_{t-1}^max, and the rates belong to it.

    Lhat^av is kept as `kernels.columns` has it, in losses, fresh, levels and offsets; merged is 0
    while the last two are not up to date. `weights` is p of the round in which it was last kept, by
    rate, equal rates as one; what has arrived since then is not yet in fresh. dual has the
    multiplier of that round, and for how many rounds p has been carried along.
    """

    losses: Floats
    fresh: Floats
    arrived: Floats
    levels: Floats
    offsets: Floats
    merged: Counts
    missing: Counts
    most_missing: Counts
    round: Counts
    dual: Floats
    weights: Floats
    rates: Floats
    log_prior: Floats
    log_weight: Floats
    steps: Floats
    damped: Counts


@compiled
def fill_rates(steps: Floats, damped: Counts, most_missing: float, eta: Floats) -> None:
    """eq:fullinfoeta at rho_t^max = most_missing; without the root if not damped (repaired)."""
    root = math.sqrt(1.0 + most_missing) if damped[0] == 1 else 1.0
    cap = 1.0 / (4.0 * (1.0 + most_missing))
    for j in range(steps.shape[0]):
        eta[j] = min(cap, steps[j] / root)


@compiled
def most_missing_now(state: FullInformationState) -> int:
    """rho_t^max, the round to come included."""
    most = state.most_missing[0]
    for i in range(state.missing.shape[0]):
        most = max(most, state.missing[i])
    return int(most)


@compiled
def predict(state: FullInformationState, prediction: Prediction) -> None:
    """eq:fullinfopred: q_t(i) is the weight of expert i over all rates.

    dual has the multiplier, for how many rounds p has been carried along, and how far from the
    weights that were kept: the largest exponent, infinite if it was found anew.
    """
    eta, most_missing = prediction.eta, most_missing_now(state)
    for j in range(eta.shape[0]):
        eta[j] = state.rates[j]
    if most_missing != state.most_missing[0]:
        fill_rates(state.steps, state.damped, float(most_missing), eta)
    passes, c, carried, far = 0, state.dual[0], state.dual[1] + 1.0, np.inf
    if most_missing == state.most_missing[0] and state.merged[0] > 0:
        if carried <= MOST_CARRIED and state.rates[0] <= 0.5 * NEAR:
            c, passes, far = predict_from_weights(state, prediction)
        if passes == 0:
            carried, far = 0.0, np.inf
            c, passes = predict_from_rows(state, prediction)
    elif c < np.inf:
        carried = np.inf
        c, passes = predict_from_columns(state, prediction)
    if passes == 0:
        carried = np.inf
        c, passes = predict_plainly(state, prediction)
    if prediction.q.shape[0] == 1:
        prediction.q[0] = 1.0
    prediction.dual[0] = c
    prediction.dual[1] = carried
    prediction.dual[2] = far
    prediction.passes[0] = passes
    if prediction.detailed[0] == 1:
        spread_prediction(state, prediction)


@compiled
def predict_from_weights(
    state: FullInformationState, prediction: Prediction
) -> tuple[float, int, float]:
    """The argmin from an earlier one."""
    rates = prediction.eta[state.merged[0] - 1 :]
    count = rates.shape[0]
    shift, passes, far = carry_full_information(
        state.weights,
        state.arrived,
        rates,
        prediction.q,
        prediction.work,
        prediction.sums[0, :count],
        prediction.sums[1, :count],
    )
    return state.dual[0] + shift, passes, far


@compiled_apart
def predict_from_rows(state: FullInformationState, prediction: Prediction) -> tuple[float, int]:
    """The argmin while the rates stand still."""
    rates = prediction.eta[state.merged[0] - 1 :]
    count = rates.shape[0]
    return solve_full_information(
        state.levels[:count],
        state.offsets[:count],
        state.fresh + state.arrived,
        rates,
        state.dual[0],
        prediction.q,
        prediction.work,
        prediction.sums[0, :count],
        prediction.sums[1, :count],
    )


@compiled_apart
def predict_from_columns(state: FullInformationState, prediction: Prediction) -> tuple[float, int]:
    """The argmin in a round that begins with other rates than the last one had."""
    size = state.losses.shape[0]
    levels, offsets = prediction.work[size : 2 * size], prediction.work[2 * size :]
    unmerged(
        state.losses,
        state.fresh + state.arrived,
        state.rates,
        state.log_prior,
        state.log_weight,
        levels,
        offsets,
    )
    return solve_full_information(
        levels,
        offsets,
        np.zeros((2, state.missing.shape[0])),
        prediction.eta,
        state.dual[0],
        prediction.q,
        prediction.work,
        prediction.sums[0],
        prediction.sums[1],
    )


@compiled_apart
def spread_prediction(state: FullInformationState, prediction: Prediction) -> None:
    """p over (arm, rate)."""
    losses, q, p, c = losses_now(state), prediction.q, prediction.p, prediction.dual[0]
    for i in range(q.shape[0]):
        spread_over_rates(losses[i], state.log_weight, prediction.eta, c, q[i], p[i])


@compiled
def losses_now(state: FullInformationState) -> Floats:
    """Lhat^av over (arm, rate)."""
    return cumulative(state.losses, state.fresh + state.arrived, state.rates)


@compiled_apart
def predict_plainly(state: FullInformationState, prediction: Prediction) -> tuple[float, int]:
    """The argmin by the plain solver, from anywhere."""
    p = np.empty((prediction.q.shape[0], prediction.eta.shape[0]))
    c, passes = solve_full_information_safely(
        losses_now(state), state.log_prior, state.log_weight, prediction.eta, state.dual[0], p
    )
    for i in range(prediction.q.shape[0]):
        prediction.q[i] = p[i].sum()
    return c, passes


@compiled
def commit(state: FullInformationState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze (rho_t^max, rho_t(i)) for every expert; from now on its loss is missing."""
    most_missing = most_missing_now(state)
    if prediction.dual[2] > 0.5 * NEAR:  # the other half is for what the next round brings
        keep(state, prediction)
    if most_missing != state.most_missing[0]:
        settle(state.losses, state.fresh, state.rates)
        fill_rates(state.steps, state.damped, float(most_missing), state.rates)
        state.most_missing[0] = most_missing
        state.merged[0] = 0
    elif state.merged[0] == 0:
        state.merged[0] = merge(
            state.losses,
            state.log_prior,
            state.log_weight,
            state.rates,
            state.levels,
            state.offsets,
        )
    missing = state.missing
    for i in range(missing.shape[0]):
        plays[i, 0] = most_missing
        plays[i, 1] = missing[i]
        missing[i] += 1
    state.round[0] += 1
    state.dual[1] = prediction.dual[1]


@compiled
def keep(state: FullInformationState, prediction: Prediction) -> None:
    """From now on p is carried along from this round, not from an earlier one."""
    keep_arrived(state)
    state.dual[0] = prediction.dual[0]
    if prediction.dual[1] < np.inf and state.merged[0] > 0:
        keep_weights(state, prediction)


@compiled
def keep_arrived(state: FullInformationState) -> None:
    """What has arrived joins what came before under the same rates."""
    arrived, fresh = state.arrived, state.fresh
    for kind in range(2):
        for i in range(fresh.shape[1]):
            fresh[kind, i] += arrived[kind, i]
            arrived[kind, i] = 0.0


@compiled
def keep_weights(state: FullInformationState, prediction: Prediction) -> None:
    """The weights of this round, from which those of the next ones follow."""
    work, weights, factors = prediction.work, state.weights, prediction.sums[1]
    for r in range(state.losses.shape[0] - state.merged[0] + 1):
        for i in range(weights.shape[1]):
            weights[r, i] = factors[r] * work[r, i]


@compiled
def withdraw(state: FullInformationState, play: Floats, arm: int) -> None:
    """The loss is no longer missing."""
    state.missing[arm] -= 1


@compiled
def observe(state: FullInformationState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add lhat_s(i, eta) = l + 4 eta_s l (1 + rho_s(i)) of eq:fullinfocorr, rates of round s."""
    withdraw(state, play, arm)
    if play[0] == state.most_missing[0]:
        state.arrived[PLAIN, arm] += loss
        state.arrived[WEIGHED, arm] += loss * (1.0 + play[1])
    elif loss > 0.0:
        observe_late(state, play, arm, loss)


@compiled_apart
def observe_late(state: FullInformationState, play: Floats, arm: int, loss: float) -> None:
    """The same for a round whose rates are no longer in force."""
    eta = np.empty(state.steps.shape[0])
    fill_rates(state.steps, state.damped, play[0], eta)
    for j in range(eta.shape[0]):
        state.losses[j, arm] += loss + 4.0 * eta[j] * (loss * (1.0 + play[1]))
    state.dual[1] = np.inf
    if state.merged[0] > 0:
        merge_again(state, arm)


@dataclass(frozen=True)
class FullInformation(PaperLearner):
    """The paper's full-information learner; `variant="repaired"` takes the grid without the root.

    The paper's grid shrinks by sqrt(1 + rho^max) while early corrections stay as they were, and
    th:fullinfobound fails when rho^max grows late; the repaired grid, twice as long, never moves
    a rate that lies below the cap.
    """

    horizon: int = 1
    prior: Sequence[float] | None = None

    name: ClassVar[str] = "full-information"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON,)
    guarantee: ClassVar[str] = (
        "regret O(c rho_max + sqrt(c <u, L + L^rho>)) for every u, c = KL(u,pi) + ln T "
        "(th:fullinfobound; if rho_max grows late only with variant='repaired')"
    )
    state: ClassVar[type] = FullInformationState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        horizon = as_count(self.horizon, "horizon", 1, MOST_ROUNDS)
        object.__setattr__(self, "horizon", horizon)
        object.__setattr__(self, "prior", checked_prior(self.prior, self.arms))

    @property
    def grid_size(self) -> int:
        """J, the number of rates."""
        return grid_size(self.horizon, base=4 if self.variant == "paper" else 2)

    def start(self) -> FullInformationState:
        size = self.grid_size
        scale = math.sqrt(math.log(self.arms) + 2.0 * (math.log(self.horizon) + 1.0)) / 4.0
        with np.errstate(divide="ignore"):  # an expert of prior zero stays at weight zero
            log_prior = np.log(np.array(self.prior))
        steps, damped = scale * halvings(size), np.full(1, int(self.variant == "paper"), np.int64)
        rates = np.empty(size)
        fill_rates(steps, damped, 0.0, rates)
        return FullInformationState(
            losses=np.zeros((size, self.arms)),
            fresh=np.zeros((2, self.arms)),
            arrived=np.zeros((2, self.arms)),
            levels=np.zeros((size, self.arms)),
            offsets=np.zeros((size, self.arms)),
            merged=np.zeros(1, dtype=np.int64),
            missing=np.zeros(self.arms, dtype=np.int64),
            most_missing=np.zeros(1, dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
            dual=np.full(2, np.inf),
            weights=np.zeros((size, self.arms)),
            rates=rates,
            log_prior=log_prior,
            log_weight=np.log(grid_weights(size)),
            steps=steps,
            damped=damped,
        )

    def losses(self, state: FullInformationState) -> Floats:
        return losses_now(state)

    def blank(self) -> Prediction:
        size = self.grid_size
        return Prediction.blank(self.arms, rates=size, eta=size, dual=3, work=3 * size)
