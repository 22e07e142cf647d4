"""The full-information learner: delayed experts (section "Full information", th:fullinfobound).

Each expert is copied once for each learning rate of a grid, and Algorithm 1 learns over all pairs.
A loss that arrives is raised by a correction that grows with the losses missing when it was made.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.ftrl.rates import grid_size, grid_weights, halvings
from belated.kernels.compile import compiled
from belated.kernels.full_information import solve_full_information
from belated.learners.learner import (
    Counts,
    Floats,
    Learner,
    Prediction,
    Verbs,
)
from belated.types import Setting
from belated.values import MOST_ROUNDS, as_count, checked_prior


class FullInformationState(NamedTuple):
    """losses is Lhat^av (arm, rate); missing is rho_t; most_missing is rho_{t-1}^max."""

    losses: Floats
    missing: Counts
    most_missing: Counts
    round: Counts
    dual: Floats
    log_prior: Floats
    log_weight: Floats
    steps: Floats
    damped: Counts


@compiled
def fill_rates(steps: Floats, damped: Counts, most_missing: float, eta: Floats) -> None:
    """eq:fullinfoeta at rho_t^max = most_missing; without the root if not damped (repaired)."""
    root = math.sqrt(1.0 + most_missing) if damped[0] == 1 else 1.0
    for j in range(steps.shape[0]):
        eta[j] = min(1.0 / (4.0 * (1.0 + most_missing)), steps[j] / root)


@compiled
def most_missing_now(state: FullInformationState) -> int:
    """rho_t^max, the round to come included."""
    return int(max(state.most_missing[0], state.missing.max()))


@compiled
def predict(state: FullInformationState, prediction: Prediction) -> None:
    """eq:fullinfopred: q_t(i) is the weight of expert i over all rates."""
    fill_rates(state.steps, state.damped, float(most_missing_now(state)), prediction.eta)
    prediction.dual[0] = solve_full_information(
        state.losses,
        state.log_prior,
        state.log_weight,
        prediction.eta,
        state.dual[0],
        prediction.p,
    )
    for i in range(prediction.q.shape[0]):
        prediction.q[i] = prediction.p[i].sum()
    if prediction.q.shape[0] == 1:
        prediction.q[0] = 1.0


@compiled
def commit(state: FullInformationState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze (rho_t^max, rho_t(i)) for every expert; from now on its loss is missing."""
    state.most_missing[0] = most_missing_now(state)
    for i in range(state.missing.shape[0]):
        plays[i, 0] = state.most_missing[0]
        plays[i, 1] = state.missing[i]
        state.missing[i] += 1
    state.round[0] += 1
    state.dual[:] = prediction.dual


@compiled
def withdraw(state: FullInformationState, play: Floats, arm: int) -> None:
    """The loss is no longer missing."""
    state.missing[arm] -= 1


@compiled
def observe(state: FullInformationState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add lhat_s(i, eta) = l + 4 eta_s l (1 + rho_s(i)) of eq:fullinfocorr, rates of round s."""
    withdraw(state, play, arm)
    eta = np.empty(state.steps.shape[0])
    fill_rates(state.steps, state.damped, play[0], eta)
    for j in range(eta.shape[0]):
        state.losses[arm, j] += loss + 4.0 * eta[j] * loss * (1.0 + play[1])


@dataclass(frozen=True)
class FullInformation(Learner):
    """The paper's full-information learner; `variant="repaired"` takes the grid without the root.

    The paper's grid shrinks by sqrt(1 + rho^max) while early corrections stay as they were, and
    th:fullinfobound fails when rho^max grows late; the repaired grid, twice as long, never moves
    a rate that lies below the cap.
    """

    horizon: int = 1
    prior: Sequence[float] | None = None

    name: ClassVar[str] = "full-information"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    needs: ClassVar[str] = "horizon"
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
        return FullInformationState(
            losses=np.zeros((self.arms, size)),
            missing=np.zeros(self.arms, dtype=np.int64),
            most_missing=np.zeros(1, dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
            dual=np.full(1, np.inf),
            log_prior=log_prior,
            log_weight=np.log(grid_weights(size)),
            steps=scale * halvings(size),
            damped=np.full(1, int(self.variant == "paper"), dtype=np.int64),
        )

    def blank(self) -> Prediction:
        size = self.grid_size
        return Prediction(
            q=np.empty(self.arms),
            p=np.empty((self.arms, size)),
            eta=np.empty(size),
            gamma=np.empty(0),
            dual=np.empty(1),
        )
