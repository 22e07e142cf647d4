"""The paper's analysis of Algorithm 1, held against runs of the readable learners.

lem:drift is asserted for the full-information and the concealed learner only. For the partially
concealed one it is false; test_errata.py shows a run that breaks it.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, minimize

from belated.arrays import Floats
from belated.environments.missing import missing_counts
from belated.ftrl import (
    DelayedFTRL,
    HybridRegularizer,
    LogBarrierOnMarginals,
    NegativeEntropy,
    Regularizer,
    Tsallis,
    ZeroRegularizer,
    argmin,
    corrections,
    estimators,
)
from belated.ftrl.analysis import (
    Decomposition,
    Round,
    analysed,
    decompose,
    drift,
    drift_bound,
    framework_bound,
    look_ahead,
)
from belated.replay.decomposition import analysed_run
from belated.replay.replay import replay
from belated.types import Setting
from tests.theory.games import VARIANTS, full_case, heavy_tailed, random_game, skewed_prior

SETTINGS = ("full", "partial", "concealed")
SEEDS = range(8)
ROUNDS = 24


@functools.cache
def run(setting: str, seed: int, variant: str = "paper") -> list[Round]:
    """The rounds of a random game, played once for all tests."""
    return analysed_run(random_game(setting, seed, ROUNDS, variant=variant))


@functools.cache
def decomposed(
    setting: str, seed: int, variant: str = "paper"
) -> list[tuple[Floats, Decomposition]]:
    """The regret of that game taken apart, for each of the comparators."""
    rounds = run(setting, seed, variant)
    return [(u, decompose(rounds, u)) for u in comparators(rounds, seed)]


def comparators(rounds: list[Round], seed: int) -> list[Floats]:
    """A few comparators over (arm, rate), all inside the simplex so that R_T is finite."""
    random = np.random.default_rng(seed)
    shape = rounds[0].p.shape
    centre = np.full(shape, 1.0 / rounds[0].p.size)
    corner = np.zeros(shape)
    corner[0, -1] = 1.0
    drawn = random.dirichlet(np.full(centre.size, 0.3)).reshape(shape)
    return [0.999 * u + 0.001 * centre for u in (corner, drawn)]


def scale(rounds: list[Round]) -> float:
    """The size of the numbers that are added up, for tolerances."""
    return 1.0 + max(float(r.total.max()) for r in rounds)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_decomposition_is_an_identity(setting: str, seed: int) -> None:
    """eq:decomp and eq:driftcheating, with every term computed on its own."""
    rounds = run(setting, seed)
    for u, parts in decomposed(setting, seed):
        assert parts.regret == pytest.approx(parts.total, abs=1e-9 * scale(rounds))
        charged = sum(float(((r.p - u) * r.charged).sum()) for r in rounds)
        assert charged == pytest.approx(
            parts.cheating_regret + parts.drift, abs=1e-9 * scale(rounds)
        )
        assert parts.drift == pytest.approx(sum(map(drift, rounds)), abs=1e-9 * scale(rounds))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_regret_of_pseudo_experts_is_that_of_the_experts(seed: int) -> None:
    """Against u at one rate, <p_t - u', ltil_t> adds up to <q_t - u, l_t> (eq:fullinfopred)."""
    case = random_game("full", seed, ROUNDS)
    rounds = run("full", seed)
    u = np.array(skewed_prior(case.losses.shape[1], 1.0))
    at_one_rate = np.zeros_like(rounds[0].p)
    at_one_rate[:, -1] = u
    q = np.array([r.p.sum(axis=1) for r in rounds])
    expected = float(((q - u) * case.losses).sum())
    assert decompose(rounds, at_one_rate).regret == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_what_is_not_available_is_the_round_itself_and_what_is_missing(
    setting: str, seed: int
) -> None:
    """eq:key: Lhat_t - Lhat_t^av is lhat_t plus the lhat_s of all s in m_t."""
    case = random_game(setting, seed, ROUNDS)
    rounds = run(setting, seed)
    for t, now in enumerate(rounds):
        absent = now.charged.copy()
        for s, before in enumerate(rounds[:t]):
            never = case.delays[s] < 0
            late = never | (s + case.delays[s] >= t)
            absent += before.charged * late[:, None]
        np.testing.assert_allclose(now.total - now.available, absent, atol=1e-9 * scale(rounds))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_cheating_regret_is_at_most_the_regularizer(setting: str, seed: int, variant: str) -> None:
    """lem:cheating regret, which needs no more than that R_t grows."""
    rounds = run(setting, seed, variant)
    for u, parts in decomposed(setting, seed, variant):
        most = rounds[-1].regularizer.value(u)
        assert parts.cheating_regret <= most + 1e-9 * scale(rounds)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("setting", ["full", "concealed"])
def test_drift_is_within_its_bound_in_every_round(setting: str, seed: int, variant: str) -> None:
    """lem:drift, where it is true."""
    for r in run(setting, seed, variant):
        assert drift(r) <= drift_bound(r) * (1.0 + 1e-9) + 1e-12


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("setting", ["full", "concealed"])
def test_regret_is_within_the_framework_bound(setting: str, seed: int, variant: str) -> None:
    """lem:frameworkregret on the path, for several comparators."""
    rounds = run(setting, seed, variant)
    for u, parts in decomposed(setting, seed, variant):
        assert parts.regret <= framework_bound(rounds, u) + 1e-9


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_full_information_corrections_pay_for_the_drift(seed: int, variant: str) -> None:
    """The step of th:fullinfobound that the certificate rests on, for both grids."""
    for r in run("full", seed, variant):
        assert drift_bound(r) <= float((r.p * r.correction).sum()) + 1e-12


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_regularizer_never_shrinks(setting: str, seed: int, variant: str) -> None:
    """R_t >= R_{t-1} at random points, the condition of lem:cheating regret."""
    rounds = run(setting, seed, variant)
    random = np.random.default_rng(seed)
    for concentration in (0.05, 0.5, 5.0):
        p = random.dirichlet(np.full(rounds[0].p.size, concentration)).reshape(rounds[0].p.shape)
        p = np.maximum(p, 1e-30)
        values = np.array([r.regularizer.value(p) for r in rounds])
        assert (np.diff(values) >= -1e-12 * np.abs(values[1:])).all()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_look_ahead_raises_the_multiplier(setting: str, seed: int) -> None:
    """c_t^av <= c_t in the proof of lem:drift: more loss lifts the multiplier."""
    for r in run(setting, seed)[::5]:
        before, after = argmin(r.regularizer, r.available), argmin(r.regularizer, r.total)
        assert before.c <= after.c + 1e-9 * (1.0 + abs(after.c))
        np.testing.assert_allclose(after.p, look_ahead(r), atol=1e-12)


# -- regularizers


@dataclass(frozen=True)
class InverseBarrier:
    """sum 1/(rate p): a regularizer of the user's own, with a rate for each column."""

    rates: Floats

    def value(self, p: Floats) -> float:
        return float((1.0 / (self.rates * p)).sum())

    def gradient(self, p: Floats) -> Floats:
        return -1.0 / (self.rates * p**2)

    def hessian(self, p: Floats) -> Floats:
        return np.diag((2.0 / (self.rates * p**3)).ravel())


@dataclass(frozen=True)
class Coupling:
    """p^T A p / 2 with A positive semidefinite: it ties all coordinates together."""

    matrix: Floats

    def value(self, p: Floats) -> float:
        return float(0.5 * p.ravel() @ self.matrix @ p.ravel())

    def gradient(self, p: Floats) -> Floats:
        return (self.matrix @ p.ravel()).reshape(p.shape)

    def hessian(self, p: Floats) -> Floats:
        return self.matrix


def interior(seed: int, shape: tuple[int, int] = (3, 4)) -> Floats:
    size = shape[0] * shape[1]
    drawn = np.random.default_rng(seed).dirichlet(np.ones(size)).reshape(shape)
    return 0.8 * drawn + 0.2 / size


RATES = np.array([0.25, 0.1, 0.05, 0.01])
COUPLING = Coupling(np.array([[np.cos(i - j) for i in range(12)] for j in range(12)]))
REGULARIZERS: dict[str, Regularizer] = {
    "entropy": NegativeEntropy(RATES),
    "entropy at one rate": NegativeEntropy(0.3),
    "log barrier on marginals": LogBarrierOnMarginals(0.2),
    "Tsallis": Tsallis(0.4),
    "nothing": ZeroRegularizer(),
    "hybrid": HybridRegularizer(
        LogBarrierOnMarginals(0.2), NegativeEntropy(RATES), interior(1), interior(2)
    ),
    "inverse barrier": InverseBarrier(RATES),
    "coupling": COUPLING,
}


def derivative(function: Callable[[Floats], Floats | float], p: Floats) -> Floats:
    """Central differences in each coordinate of p, the last axis of the answer."""
    columns = []
    for index in np.ndindex(p.shape):
        step = 1e-5 * p[index]
        up, down = p.copy(), p.copy()
        up[index] += step
        down[index] -= step
        difference = np.asarray(function(up)) - np.asarray(function(down))
        columns.append(difference / (up[index] - down[index]))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("name", REGULARIZERS)
def test_derivatives_are_those_of_the_value(name: str) -> None:
    """Gradient and Hessian of each regularizer against finite differences."""
    regularizer = REGULARIZERS[name]
    p = interior(7)
    gradient = derivative(regularizer.value, p).reshape(p.shape)
    np.testing.assert_allclose(regularizer.gradient(p), gradient, rtol=2e-6, atol=2e-6)
    hessian = derivative(regularizer.gradient, p).reshape(p.size, p.size)
    np.testing.assert_allclose(regularizer.hessian(p), hessian, rtol=2e-6, atol=2e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_inverse_of_a_block_is_the_papers(seed: int) -> None:
    """eq:inverseblock (Sherman-Morrison) against the inverse of the whole Hessian."""
    p, eta = interior(seed), 0.2
    hessian = LogBarrierOnMarginals(eta).hessian(p) + NegativeEntropy(RATES).hessian(p)
    inverse = np.linalg.inv(hessian)
    for arm, row in enumerate(p):
        v = RATES * row
        block = np.diag(v) - np.outer(v, v) / (eta * row.sum() ** 2 + v.sum())
        own = slice(4 * arm, 4 * arm + 4)
        np.testing.assert_allclose(inverse[own, own], block, rtol=1e-9, atol=1e-15)
        inverse[own, own] = 0.0
    assert np.abs(inverse).max() == 0.0


PAIRS = {
    "inverse barrier and entropy": (InverseBarrier(RATES), NegativeEntropy(RATES[::-1])),
    "inverse barrier alone": (InverseBarrier(RATES), ZeroRegularizer()),
    "Tsallis and inverse barrier": (Tsallis(0.1), InverseBarrier(100.0 * RATES)),
    "coupling and entropy": (COUPLING, NegativeEntropy(RATES)),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", PAIRS)
def test_any_legendre_pair_is_minimised(name: str, seed: int) -> None:
    """eq:frameworkprediction for regularizers of a user, stationary and as scipy finds it."""
    random = np.random.default_rng(seed)
    regularizer = HybridRegularizer(*PAIRS[name], interior(seed + 10), interior(seed + 20))
    losses = random.exponential(20.0, (3, 4))
    solution = argmin(regularizer, losses)
    residual = regularizer.gradient(solution.p) + losses - solution.c
    curvature = solution.p * np.diag(regularizer.hessian(solution.p)).reshape(losses.shape)
    assert solution.p.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.abs(residual / curvature).max() <= 1e-9  # the relative error of p that is left

    shape = losses.shape
    found = minimize(
        lambda x: x @ losses.ravel() + regularizer.value(x.reshape(shape)),
        np.full(losses.size, 1.0 / losses.size),
        jac=lambda x: (losses + regularizer.gradient(x.reshape(shape))).ravel(),
        hess=lambda x: regularizer.hessian(x.reshape(shape)),
        method="trust-constr",
        bounds=Bounds(1e-8, 1.0, keep_feasible=True),
        constraints=LinearConstraint(np.ones(losses.size), 1.0, 1.0),
        options={"gtol": 1e-10, "xtol": 1e-12, "barrier_tol": 1e-10, "maxiter": 2000},
    )
    np.testing.assert_allclose(solution.p.ravel(), found.x, atol=1e-6)


def test_algorithm_1_runs_on_a_pair_of_the_users() -> None:
    """Separable, increasing and concave gradients: the framework's bounds hold for such a pair."""
    random = np.random.default_rng(3)
    losses, delays = random.random((ROUNDS, 3)), heavy_tailed(random, ROUNDS, 3)
    centre = np.full((3, 1), 1.0 / 3.0)
    learner = DelayedFTRL(
        setting=Setting.FULL_INFORMATION,
        prior_psi=centre,
        prior_phi=np.array([[0.5], [0.3], [0.2]]),
        psi=lambda ledger: InverseBarrier(np.array([2.0 / np.sqrt(ledger.round)])),
        phi=lambda ledger: NegativeEntropy(0.5 / np.sqrt(ledger.round)),
        rates=lambda ledger: np.array([0.05]),
        estimate=estimators.as_observed,
        correct=corrections.for_known_missing,
    )
    plays = replay(full_case(losses, delays), learner).state.ledger.plays
    rounds = analysed(learner, plays, losses, missing_counts(delays))
    for u in comparators(rounds, 0):
        parts = decompose(rounds, u)
        assert parts.regret == pytest.approx(parts.total, abs=1e-9)
        assert parts.regret <= framework_bound(rounds, u)
    assert all(drift(r) <= drift_bound(r) + 1e-12 for r in rounds)
