"""The plain solvers on random states, against references of higher precision that share no code."""

import math
import os
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest

from belated.arrays import Floats
from belated.solvers.concealed_safe import solve_concealed_safely, wright_omega
from belated.solvers.full_information_safe import solve_full_information_safely
from belated.solvers.multiplier import MOST_STEPS
from belated.solvers.partially_concealed_safe import (
    solve_log_barrier,
    solve_partially_concealed_safely,
)
from tests.oracle import transcription as oracle
from tests.solvers.states import State, random_state

pytestmark = pytest.mark.core

CHUNKS = 10


def full_information(state: State, guess: Floats | None = None) -> tuple[Floats, Floats]:
    """q and the dual of the full-information argmin."""
    p = np.empty_like(state.losses)
    start = math.inf if guess is None else float(guess[0])
    logs = np.log(state.prior), np.log(state.weights)
    c, passes = solve_full_information_safely(state.losses, *logs, state.rates, start, p)
    assert 1 <= passes < 2 * MOST_STEPS
    return p.sum(axis=1), np.array([c])


def partially_concealed(state: State, guess: Floats | None = None) -> tuple[Floats, Floats]:
    """q and the dual of the partially concealed argmin."""
    arms = len(state.losses)
    p, q, dual = np.empty_like(state.losses), np.empty(arms), np.empty(arms + 1)
    start = np.full(arms + 1, np.inf) if guess is None else guess
    logs = np.log(state.prior), np.log(state.weights)
    parts = state.losses, *logs, state.rates, state.eta
    passes = solve_partially_concealed_safely(*parts, start, p, q, dual)
    assert (1 if arms > 1 else 0) <= passes < 2 * MOST_STEPS
    np.testing.assert_allclose(p.sum(axis=1), q, rtol=1e-12)
    return q, dual


def concealed(state: State, guess: Floats | None = None) -> tuple[Floats, Floats]:
    """q and the dual of the concealed argmin."""
    q = np.empty(len(state.losses))
    start = math.inf if guess is None else float(guess[0])
    losses = np.ascontiguousarray(state.losses[:, 0])
    c, passes = solve_concealed_safely(losses, state.eta, state.gamma, start, q)
    assert (1 if len(q) > 1 else 0) <= passes < MOST_STEPS
    return q, np.array([c])


def log_barrier(state: State, guess: Floats | None = None) -> tuple[Floats, Floats]:
    """q and the dual of the partially concealed argmin without entropy."""
    q = np.empty(len(state.losses))
    start = math.inf if guess is None else float(guess[0])
    c, passes = solve_log_barrier(state.losses[:, 0], state.eta, start, q)
    assert (1 if len(q) > 1 else 0) <= passes < MOST_STEPS
    return q, np.array([c])


Solver = Callable[..., tuple[Floats, Floats]]
SOLVERS: list[Solver] = [full_information, partially_concealed, concealed, log_barrier]
THOROUGH = bool(os.environ.get("BELATED_THOROUGH"))  # all states, instead of one in ten
STATES = {full_information: 46_000, partially_concealed: 8_000, concealed: 46_000}


def relative_error(q: Floats, reference: Floats) -> float:
    """The largest relative error of the weights of at least 1e-12."""
    visible = reference >= 1e-12
    return float(np.abs(q[visible] / reference[visible] - 1.0).max())


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("solve", STATES)
def test_every_random_state_is_solved_cold_and_warm(solve: Solver, chunk: int) -> None:
    """A distribution from each of 100,000 states, or one in ten; warm and cold starts agree.

    A solve that does not converge raises an error. One state in ten may have 10,000 arms.
    """
    rng = np.random.default_rng([chunk, SOLVERS.index(solve)])
    for _ in range(STATES[solve] // CHUNKS // (1 if THOROUGH else 10)):
        state = random_state(rng, most_arms=10_000 if chunk == 0 else 1000)
        q, dual = solve(state)
        assert np.isfinite(q).all()
        assert q.min() >= 0.0
        assert abs(q.sum() - 1.0) <= 1e-12
        later = state.moved(rng)
        warm, _ = solve(later, dual)
        cold, _ = solve(later)
        assert abs(warm.sum() - 1.0) <= 1e-12
        assert relative_error(warm, cold) <= 1e-10, (solve.__name__, state)


def exactly(state: State, solve: Solver) -> Floats:
    """The same argmin by the oracle, in 40 digits."""
    losses, prior = state.losses.tolist(), state.prior.tolist()
    weights, rates = state.weights.tolist(), state.rates.tolist()
    first = state.losses[:, 0].tolist()
    if solve is full_information:
        q = oracle.argmin_full(losses, prior, weights, rates)
    elif solve is partially_concealed:
        q = oracle.argmin_partial(losses, prior, weights, rates, state.eta)
    elif solve is concealed:
        gamma = mp.inf if math.isinf(state.gamma) else state.gamma
        q = oracle.argmin_concealed(first, state.eta, gamma)
    else:
        q = oracle.argmin_partial([[x] for x in first], prior, [1.0], [mp.inf], state.eta)
    return np.array([float(x) for x in q])


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("solve", SOLVERS)
def test_weights_match_forty_digits(solve: Solver, seed: int) -> None:
    """Small states against the oracle's bracketing in high precision, cold and warm."""
    rng = np.random.default_rng([seed, 7])
    state = random_state(rng, most_arms=9, most_rates=6 if solve is partially_concealed else 20)
    reference = exactly(state, solve)
    q, dual = solve(state)
    assert relative_error(q, reference) <= 1e-10
    warm, _ = solve(state, dual * (1.0 + 1e-3 * rng.standard_normal(dual.shape)))
    assert relative_error(warm, reference) <= 1e-10


@pytest.mark.parametrize("seed", range(4))
def test_partially_concealed_weights_of_more_arms_match_forty_digits(seed: int) -> None:
    """The coupled argmin once more, with tens of arms and a longer grid."""
    rng = np.random.default_rng([seed, 13])
    state = random_state(rng, most_arms=40, most_rates=12)
    while not 12 <= len(state.losses) <= 40:
        state = random_state(rng, most_arms=40, most_rates=12)
    reference = exactly(state, partially_concealed)
    assert relative_error(partially_concealed(state)[0], reference) <= 1e-10


@pytest.mark.parametrize("scale", [1e15, 1e20, 1e40])
@pytest.mark.parametrize("solve", [partially_concealed, log_barrier])
def test_an_arm_far_beyond_the_resolution_of_the_others(solve: Solver, scale: float) -> None:
    """Plays that the learner would not have made give estimates of any size, and no overflow."""
    rates = 0.01 * 2.0 ** -np.arange(4.0)
    weights = 4.0 ** -np.arange(1.0, 5.0)
    losses = np.array([[scale], [604.3], [610.0]]) * (1.0 + 0.3 * rates / rates.max())
    prior = np.array([0.5, 0.25, 0.25])
    state = State(losses, prior, weights / weights.sum(), rates, 0.02, 1.0)
    reference = exactly(state, solve)
    q, dual = solve(state)
    assert np.abs(q / reference - 1.0).max() <= 1e-10
    assert np.abs(solve(state, 1.01 * dual)[0] / reference - 1.0).max() <= 1e-10


def bisected(excess: Callable[[np.longdouble], np.longdouble], low: float, high: float) -> Floats:
    """The root of an increasing function by bisection in extended precision."""
    a, b = np.longdouble(low), np.longdouble(high)
    while (middle := (a + b) / 2) not in (a, b):
        a, b = (a, middle) if excess(middle) > 0 else (middle, b)
    return middle


def full_information_by_bisection(state: State) -> Floats:
    """The full-information argmin in extended precision; no closed form but its definition."""
    losses = state.losses.astype(np.longdouble) - np.longdouble(state.losses.min())
    prior = np.outer(state.prior.astype(np.longdouble), state.weights.astype(np.longdouble))
    rates = state.rates.astype(np.longdouble)
    ceiling = (losses - np.log(prior) / rates).min()

    def p(c: np.longdouble) -> Floats:
        return prior * np.exp(rates * (c - losses))

    root = bisected(lambda c: p(c).sum() - 1, 0.0, float(ceiling) * (1 + 1e-9) + 1e-9)
    return p(root).sum(axis=1).astype(np.float64)


def concealed_by_bisection(state: State) -> Floats:
    """The concealed argmin in extended precision, each weight bisected in its logarithm."""
    losses = state.losses[:, 0].astype(np.longdouble) - np.longdouble(state.losses[:, 0].min())
    eta, gamma = np.longdouble(state.eta), np.longdouble(state.gamma)
    arms = len(losses)

    def log_q(c: np.longdouble) -> Floats:
        a, b = np.full(arms, np.longdouble(-700)), np.full(arms, np.longdouble(1))
        for _ in range(80):
            middle = (a + b) / 2
            above = middle / gamma - np.exp(-middle / 2) / (2 * eta) > c - losses
            a, b = np.where(above, a, middle), np.where(above, middle, b)
        return (a + b) / 2

    low = -math.log(arms) / state.gamma - math.sqrt(arms) / (2 * state.eta)
    root = bisected(lambda c: np.exp(log_q(c)).sum() - 1, low * (1 + 1e-9), -0.5 / state.eta)
    return np.exp(log_q(root)).astype(np.float64)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("solve", "reference"),
    [
        (full_information, full_information_by_bisection),
        (concealed, concealed_by_bisection),
    ],
)
def test_many_arms_match_extended_precision(
    solve: Solver, reference: Callable[[State], Floats], seed: int
) -> None:
    """Large states against bisection in extended precision."""
    assert np.finfo(np.longdouble).eps < 1e-18, "this reference needs 80-bit floating point"
    rng = np.random.default_rng([seed, 11])
    state = random_state(rng, most_arms=10_000)
    while len(state.losses) < 500:
        state = random_state(rng, most_arms=10_000)
    assert relative_error(solve(state)[0], reference(state)) <= 1e-10


@pytest.mark.parametrize("solve", SOLVERS)
def test_a_common_shift_of_all_losses_changes_nothing(solve: Solver) -> None:
    """Adding a number that floats add exactly to all losses leaves every weight as it is."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        state = random_state(rng, most_arms=50)
        losses = np.round(state.losses * 2.0**10) / 2.0**10
        same = State(losses, state.prior, state.weights, state.rates, state.eta, state.gamma)
        shifted = State(
            losses + 2.0**20, state.prior, state.weights, state.rates, state.eta, state.gamma
        )
        assert relative_error(solve(shifted)[0], solve(same)[0]) <= 1e-12


def test_wright_omega_solves_its_equation() -> None:
    """w + ln w = z over the whole range in which the solver calls it."""
    for z in np.concatenate([np.linspace(-60.0, 60.0, 2001), 10.0 ** np.linspace(2.0, 20.0, 50)]):
        with mp.workdps(40):
            w = mp.lambertw(mp.exp(mp.mpf(float(z)))) if z < 500 else mp.findroot(
                lambda x, z=z: x + mp.log(x) - mp.mpf(float(z)), mp.mpf(float(z)) - mp.log(z)
            )  # fmt: skip
            assert abs(mp.mpf(wright_omega(float(z))) / w - 1) < 2e-14
