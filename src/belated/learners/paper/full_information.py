"""The full-information learner: delayed experts (section "Full information", th:fullinfobound).

Each expert is copied once for each learning rate of a grid, and Algorithm 1 learns over all pairs.
A loss that arrives is raised by a correction that grows with the number of losses that were missing
when its round was played.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ROUNDS, as_count, checked_prior
from belated.compiled.kernels import compiled, compiled_apart
from belated.ftrl.rates import full_information_rates, grid_size, grid_weights, halvings
from belated.learners.contract import (
    Certificate,
    GameOutcome,
    PaperLearner,
    Prediction,
    RunOutcome,
    Verbs,
)
from belated.learners.paper.full_information_certificate import against_arms
from belated.numerics.ordered_sums import sum_in_order
from belated.solvers.full_information import NEAR, carry_full_information, solve_full_information
from belated.solvers.full_information_safe import solve_full_information_safely
from belated.solvers.rate_columns import (
    PLAIN,
    WEIGHED,
    RateColumns,
    cumulative,
    empty_columns,
    merge,
    merge_again,
    settle,
    spread_over_rates,
    unmerged,
)
from belated.types import Need, Setting

MOST_MISSING, MISSING = range(2)  # the columns of a play
MOST_CARRIED = 64.0  # rounds, in each of which a weight is rounded three times at most


class FullInformationState(NamedTuple):
    """The state of the full-information learner: Lhat^av in columns, missing counts, and weights.

    missing is rho_t; most_missing is rho_{t-1}^max, to which the rates in the columns belong. They
    are whole numbers for experts, and real ones for policies (see `belated.learners.advice`).
    weights is p of the round in which it was last kept, one row for each rate, with equal rates as
    one row. arrived has the losses told since then, which are not yet in columns.fresh. multiplier
    is that of the same round, and carried the number of rounds for which p has been carried since.
    """

    columns: RateColumns
    arrived: Floats
    missing: Counts | Floats
    most_missing: Counts | Floats
    round: Counts
    multiplier: Floats
    carried: Floats
    weights: Floats
    steps: Floats
    damped: Counts


class FullInformationInfo(NamedTuple):
    """Results of the solver that `commit` keeps for the next round.

    multiplier is that of the argmin and passes the solver's passes over the arms. carried is the
    number of rounds for which p has been carried along, infinite if it cannot be; distance is the
    largest exponent by which it was carried this time, infinite if it was found again. rows holds
    the weights by rate and arm before each row is multiplied by its factor; sums, levels and
    offsets are working space.
    """

    multiplier: Floats
    carried: Floats
    distance: Floats
    passes: Counts
    rows: Floats
    levels: Floats
    offsets: Floats
    sums: Floats
    factors: Floats


@compiled
def fill_rates(steps: Floats, damped: Counts, most_missing: float, eta: Floats) -> None:
    """Fill in the rates eq:fullinfoeta at rho_t^max = most_missing.

    They are without the root if `damped` is 0, as in the repaired variant.
    """
    root = math.sqrt(1.0 + most_missing) if damped[0] == 1 else 1.0
    cap = 1.0 / (4.0 * (1.0 + most_missing))
    for j in range(steps.shape[0]):
        eta[j] = min(cap, steps[j] / root)


@compiled
def most_missing_now(state: FullInformationState) -> float:
    """Return rho_t^max, including the coming round."""
    most = state.most_missing[0]
    for i in range(state.missing.shape[0]):
        most = max(most, state.missing[i])
    return most  # type: ignore[no-any-return]


@compiled
def predict(state: FullInformationState, prediction: Prediction) -> None:
    """Compute q_t by eq:fullinfopred: q_t(i) is the weight of expert i over all rates."""
    eta, info, most_missing = prediction.eta, prediction.info, most_missing_now(state)
    rates, merged = state.columns.rates, state.columns.merged[0]
    for j in range(eta.shape[0]):
        eta[j] = rates[j]
    if most_missing != state.most_missing[0]:
        fill_rates(state.steps, state.damped, float(most_missing), eta)
    passes, c, carried, far = 0, state.multiplier[0], state.carried[0] + 1.0, np.inf
    if most_missing == state.most_missing[0] and merged > 0:
        if carried <= MOST_CARRIED and rates[0] <= 0.5 * NEAR:
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
    info.multiplier[0] = c
    info.carried[0] = carried
    info.distance[0] = far
    info.passes[0] = passes
    if prediction.detailed[0] == 1:
        spread_prediction(state, prediction)


@compiled
def predict_from_weights(
    state: FullInformationState, prediction: Prediction
) -> tuple[float, int, float]:
    """Compute the argmin from the weights that were last kept and the losses since then."""
    info, rates = prediction.info, prediction.eta[state.columns.merged[0] - 1 :]
    count = rates.shape[0]
    shift, passes, far = carry_full_information(
        state.weights,
        state.arrived,
        rates,
        prediction.q,
        info.rows,
        info.sums[:count],
        info.factors[:count],
    )
    return state.multiplier[0] + shift, passes, far


@compiled_apart
def predict_from_rows(state: FullInformationState, prediction: Prediction) -> tuple[float, int]:
    """Compute the argmin in a round that has the rates of the last round."""
    columns, info = state.columns, prediction.info
    rates = prediction.eta[columns.merged[0] - 1 :]
    count = rates.shape[0]
    return solve_full_information(
        columns.levels[:count],
        columns.offsets[:count],
        columns.fresh + state.arrived,
        rates,
        state.multiplier[0],
        prediction.q,
        info.rows,
        info.sums[:count],
        info.factors[:count],
    )


@compiled_apart
def predict_from_columns(state: FullInformationState, prediction: Prediction) -> tuple[float, int]:
    """Compute the argmin in a round whose rates differ from those of the last round."""
    columns, info = state.columns, prediction.info
    unmerged(columns, columns.fresh + state.arrived, info.levels, info.offsets)
    return solve_full_information(
        info.levels,
        info.offsets,
        np.zeros((2, state.missing.shape[0])),
        prediction.eta,
        state.multiplier[0],
        prediction.q,
        info.rows,
        info.sums,
        info.factors,
    )


@compiled_apart
def spread_prediction(state: FullInformationState, prediction: Prediction) -> None:
    """Fill in p, the weight of each pair (arm, rate)."""
    losses, q, p, c = losses_now(state), prediction.q, prediction.p, prediction.info.multiplier[0]
    log_weight = state.columns.log_weight
    for i in range(q.shape[0]):
        spread_over_rates(losses[i], log_weight, prediction.eta, c, q[i], p[i])


@compiled
def losses_now(state: FullInformationState) -> Floats:
    """Return Lhat^av of each pair (arm, rate)."""
    columns = state.columns
    return cumulative(columns.losses, columns.fresh + state.arrived, columns.rates)


@compiled_apart
def predict_plainly(state: FullInformationState, prediction: Prediction) -> tuple[float, int]:
    """Compute the argmin by the safe solver, which needs no good starting point."""
    columns = state.columns
    p = np.empty((prediction.q.shape[0], prediction.eta.shape[0]))
    c, passes = solve_full_information_safely(
        losses_now(state),
        columns.log_prior,
        columns.log_weight,
        prediction.eta,
        state.multiplier[0],
        p,
    )
    for i in range(prediction.q.shape[0]):
        prediction.q[i] = sum_in_order(p[i])
    return c, passes


@compiled
def commit(state: FullInformationState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Play the round: freeze (rho_t^max, rho_t(i)) for every expert, whose loss is now missing."""
    move_on(state, prediction)
    missing = state.missing
    for i in range(missing.shape[0]):
        plays[i, MOST_MISSING] = state.most_missing[0]
        plays[i, MISSING] = missing[i]
        missing[i] += 1


@compiled
def move_on(state: FullInformationState, prediction: Prediction) -> None:
    """Keep what the prediction found out and the rates of its round, and go on to the next one."""
    columns, most_missing = state.columns, most_missing_now(state)
    if prediction.info.distance[0] > 0.5 * NEAR:  # the other half is for the next round
        keep(state, prediction)
    if most_missing != state.most_missing[0]:
        settle(columns)
        fill_rates(state.steps, state.damped, float(most_missing), columns.rates)
        state.most_missing[0] = most_missing
        columns.merged[0] = 0
    elif columns.merged[0] == 0:
        merge(columns)
    state.round[0] += 1
    state.carried[0] = prediction.info.carried[0]


@compiled
def keep(state: FullInformationState, prediction: Prediction) -> None:
    """Keep the weights of this round as the ones from which later weights are computed."""
    keep_arrived(state)
    state.multiplier[0] = prediction.info.multiplier[0]
    if prediction.info.carried[0] < np.inf and state.columns.merged[0] > 0:
        keep_weights(state, prediction)


@compiled
def keep_arrived(state: FullInformationState) -> None:
    """Add the losses that have arrived to those that came before under the same rates."""
    arrived, fresh = state.arrived, state.columns.fresh
    for kind in range(2):
        for i in range(fresh.shape[1]):
            fresh[kind, i] += arrived[kind, i]
            arrived[kind, i] = 0.0


@compiled
def keep_weights(state: FullInformationState, prediction: Prediction) -> None:
    """Copy the weights of this round to the state, for the predictions of the next rounds."""
    rows, weights, factors = prediction.info.rows, state.weights, prediction.info.factors
    for r in range(state.columns.losses.shape[0] - state.columns.merged[0] + 1):
        for i in range(weights.shape[1]):
            weights[r, i] = factors[r] * rows[r, i]


@compiled
def withdraw(state: FullInformationState, play: Floats, arm: int) -> None:
    """Count the loss of a play as no longer missing."""
    state.missing[arm] -= 1


@compiled
def observe(state: FullInformationState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add lhat_s(i, eta) = l + 4 eta_s l (1 + rho_s(i)) of eq:fullinfocorr, rates of round s."""
    withdraw(state, play, arm)
    charge(state, play[MOST_MISSING], play[MISSING], arm, loss)


@compiled
def charge(
    state: FullInformationState, most_missing: float, missing: float, arm: int, loss: float
) -> None:
    """Add l + 4 eta_s l (1 + rho_s(i)), with rho_s^max and rho_s(i) as they were in round s."""
    if most_missing == state.most_missing[0]:
        state.arrived[PLAIN, arm] += loss
        state.arrived[WEIGHED, arm] += loss * (1.0 + missing)
    elif loss > 0.0:
        charge_late(state, most_missing, missing, arm, loss)


@compiled_apart
def charge_late(
    state: FullInformationState, most_missing: float, missing: float, arm: int, loss: float
) -> None:
    """Add the corrected loss of a round whose rates are no longer in force."""
    columns, eta = state.columns, np.empty(state.steps.shape[0])
    fill_rates(state.steps, state.damped, most_missing, eta)
    for j in range(eta.shape[0]):
        columns.losses[j, arm] += loss + 4.0 * eta[j] * (loss * (1.0 + missing))
    state.carried[0] = np.inf
    if columns.merged[0] > 0:
        merge_again(columns, arm)


@dataclass(frozen=True)
class FullInformation(PaperLearner):
    """The paper's full-information learner; `variant="repaired"` uses the grid without the root.

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
        "(Theorem 1 of the paper; if rho_max grows late only with variant='repaired')"
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

    def rates_at(self, most_missing: Counts) -> Floats:
        """Return the rates eq:fullinfoeta, one row for each value of rho_t^max."""
        return full_information_rates(
            self.arms,
            self.horizon,
            self.grid_size,
            damped=self.variant == "paper",
            most_missing=most_missing.astype(np.float64),
        )

    def start(self) -> FullInformationState:
        size = self.grid_size
        scale = math.sqrt(math.log(self.arms) + 2.0 * (math.log(self.horizon) + 1.0)) / 4.0
        with np.errstate(divide="ignore"):  # an expert with prior zero keeps weight zero
            log_prior = np.log(np.array(self.prior))
        steps, damped = scale * halvings(size), np.full(1, int(self.variant == "paper"), np.int64)
        rates = np.empty(size)
        fill_rates(steps, damped, 0.0, rates)
        return FullInformationState(
            columns=empty_columns(rates, log_prior, np.log(grid_weights(size))),
            arrived=np.zeros((2, self.arms)),
            missing=np.zeros(self.arms, dtype=np.int64),
            most_missing=np.zeros(1, dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
            multiplier=np.full(1, np.inf),
            carried=np.full(1, np.inf),
            weights=np.zeros((size, self.arms)),
            steps=steps,
            damped=damped,
        )

    def losses(self, state: FullInformationState) -> Floats:
        return losses_now(state)

    def blank(self) -> Prediction:
        size = self.grid_size
        info = FullInformationInfo(
            multiplier=np.zeros(1),
            carried=np.zeros(1),
            distance=np.zeros(1),
            passes=np.zeros(1, dtype=np.int64),
            rows=np.zeros((size, self.arms)),
            levels=np.zeros((size, self.arms)),
            offsets=np.zeros((size, self.arms)),
            sums=np.zeros(size),
            factors=np.zeros(size),
        )
        return Prediction.blank(self.arms, rates=size, eta=size, info=info)

    def certificate(self, run: RunOutcome, game: GameOutcome) -> Certificate | None:
        """Return the bound of docs/errata.md at the best rate, if losses are told on arrival.

        There is none for a game with so many values of rho_t^max that their table is left out.
        """
        if not self.told_on_arrival or game.charged is None or game.caps is None:
            return None
        rates = self.rates_at(game.caps)
        return Certificate(against_arms(game.charged, rates, np.array(self.prior)).min(axis=1))

    def from_version_3(self, parts: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """Rearrange the parts of a state saved in version 3: the columns' parts are put first."""
        first = ("losses", "fresh", "levels", "offsets", "merged", "rates")
        order = dict.fromkeys((*first, "log_prior", "log_weight", *parts))
        return {name: parts[name] for name in order}
