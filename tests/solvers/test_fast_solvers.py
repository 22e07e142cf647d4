"""The fast solvers from shared states: the plain solvers' weights, from the last round's answer."""

import dataclasses
import math

import mpmath as mp
import numpy as np
import pytest

from belated.arrays import Floats
from belated.solvers import concealed as kernel
from tests.solvers import test_safe_solvers as plain
from tests.solvers.fast import (
    PLAIN,
    Answer,
    Solve,
    cold,
    concealed,
    concealed_of,
    concealed_safely,
    full_information,
    partially_concealed,
    sorted_by_rate,
)
from tests.solvers.states import State, random_state
from tests.solvers.test_safe_solvers import exactly, relative_error

pytestmark = pytest.mark.core

SAME = 1e-12
CHUNKS = 4
STATES = {full_information: 6_000, partially_concealed: 1_600, concealed: 10_000}
ORACLES = {
    full_information: plain.full_information,
    partially_concealed: plain.partially_concealed,
    concealed: plain.concealed,
}
every_solver = pytest.mark.parametrize("solve", STATES)


def some_state(rng: np.random.Generator, most_arms: int = 1000, most_rates: int = 20) -> State:
    """A state that the fast solvers are for: more than one arm, and some entropy."""
    state = random_state(rng, most_arms, most_rates)
    while len(state.losses) == 1 or math.isinf(state.gamma):
        state = random_state(rng, most_arms, most_rates)
    return sorted_by_rate(state)


def assert_same(solve: Solve, state: State, answer: Answer) -> None:
    """The plain solver's weights to 1e-12 where it is that exact itself, which forty digits tell.

    Its own weights of the partially concealed argmin may be off by some 1e-11.
    """
    assert abs(answer.q.sum() - 1.0) <= SAME
    assert answer.q.min() >= 0.0
    error = relative_error(answer.q, PLAIN[solve](state, cold(state)).q)
    if error > SAME:
        assert solve is partially_concealed
        assert error <= 3e-11
        if len(state.losses) <= 30:
            assert relative_error(answer.q, exactly(state, ORACLES[solve])) <= SAME


def assert_optimal(solve: Solve, state: State, answer: Answer) -> None:
    """The conditions of an optimum, from q and c alone, up to the rounding of c and the losses."""
    c, q = answer.dual[0], answer.q
    visible = q >= 1e-12
    log_q, distance = np.log(q[visible]), c - state.losses[visible]
    last_digit = 1e-15 * (abs(c) + np.abs(state.losses[visible]).max())
    if solve is concealed:
        barrier = state.gamma / (2.0 * state.eta * np.sqrt(q[visible]))
        residual = log_q - barrier - state.gamma * distance[:, 0]
        size = 1.0 + np.abs(log_q) + barrier + state.gamma * np.abs(distance[:, 0])
        assert (np.abs(residual) <= 1e-12 * size + state.gamma * last_digit).all()
        return
    if solve is partially_concealed:
        x = 1.0 / (state.eta * q)
        np.testing.assert_allclose(answer.dual[1:][visible], x[visible], rtol=1e-11)
        distance = distance + x[visible, None]
        last_digit = last_digit + 1e-15 * x[visible]
    exponents = np.log(state.weights) + state.rates * distance
    residual = np.log(state.prior[visible]) + np.logaddexp.reduce(exponents, axis=1) - log_q
    assert (np.abs(residual) <= 1e-11 + state.rates.max() * last_digit).all()


@pytest.mark.parametrize("chunk", range(CHUNKS))
@every_solver
def test_a_round_later_it_is_the_plain_answer(solve: Solve, chunk: int) -> None:
    """Random states moved by a round: the same weights, mostly without the plain solver."""
    rng = np.random.default_rng([chunk, 21])
    corrected = given_up = 0
    for _ in range(STATES[solve] // CHUNKS):
        state = some_state(rng)
        before = PLAIN[solve](state, cold(state)).dual
        later = state.moved(rng)
        answer = solve(later, before)
        if answer.passes == 0:
            given_up += 1
            continue
        corrected += 1
        assert_same(solve, later, answer)
        assert_optimal(solve, later, answer)
    assert corrected > 2 * given_up, (corrected, given_up)


@every_solver
def test_too_far_away_it_gives_up(solve: Solve) -> None:
    """From a dual that belongs to another state it says so, or finds the right answer yet."""
    rng = np.random.default_rng(22)
    corrected = given_up = 0
    for _ in range(150):
        state = some_state(rng, most_arms=50)
        other = dataclasses.replace(state, losses=state.losses * 10 ** rng.uniform(-3, 3))
        answer = solve(state, PLAIN[solve](other, cold(other)).dual)
        if answer.passes == 0:
            given_up += 1
        else:
            corrected += 1
            assert_same(solve, state, answer)
    assert corrected > 0
    assert given_up > 0


@pytest.mark.parametrize("seed", range(14))
@every_solver
def test_weights_match_forty_digits(solve: Solve, seed: int) -> None:
    """Small states a round later, against the oracle."""
    rng = np.random.default_rng([seed, 23])
    for _ in range(20):
        state = some_state(rng, most_arms=9, most_rates=6)
        later = state.moved(rng)
        answer = solve(later, PLAIN[solve](state, cold(state)).dual)
        if answer.passes > 0:
            break
    else:
        raise AssertionError("twenty states, and the fast solver was not used")
    assert relative_error(answer.q, exactly(later, ORACLES[solve])) <= SAME


@every_solver
def test_a_chain_of_rounds_stays_exact(solve: Solve) -> None:
    """Each round from the fast answer of the last: errors do not pile up."""
    rng = np.random.default_rng(24)
    rounds = 0
    for _ in range(25):
        state = some_state(rng, most_arms=60)
        dual = PLAIN[solve](state, cold(state)).dual
        for _ in range(20):
            state = state.moved(rng)
            answer = solve(state, dual)
            if answer.passes == 0:
                break
            rounds += 1
            assert_same(solve, state, answer)
            dual = answer.dual
    assert rounds > 150


@pytest.mark.parametrize("arms", [1, 2, 3, 5, 8, 100])
def test_equal_arms_as_a_group(arms: int) -> None:
    """One arm that stands for many weighs what each of them would."""
    rng = np.random.default_rng(arms)
    corrected = 0
    for _ in range(100):
        state = some_state(rng, most_arms=30)
        copies = rng.integers(1, 40, arms).astype(float)
        losses = np.resize(state.losses[:, :1], (arms, 1)) * (1.0 + rng.random((arms, 1)))
        few = dataclasses.replace(state, losses=losses, prior=np.full(arms, 1.0 / arms))
        many = spread_out(few, copies)
        if len(many.losses) == 1:
            continue
        later = dataclasses.replace(few, losses=losses.copy(), eta=0.999 * state.eta)
        later.losses[0] += 1.0 / state.gamma * rng.random()
        dual = concealed_safely(many, cold(many)).dual
        first = np.concatenate([[0], np.cumsum(copies[:-1])]).astype(int)  # of each group
        guess = np.concatenate([dual[:1], dual[1:][first]])
        grouped = concealed_of(later, guess, copies, grouped=True)
        if grouped.passes == 0:
            continue
        corrected += 1
        each = np.repeat(grouped.q, copies.astype(int))
        ungrouped = concealed(spread_out(later, copies), dual)
        truth = concealed_safely(spread_out(later, copies), cold(many)).q
        assert abs(grouped.q @ copies - 1.0) <= SAME
        assert relative_error(each, truth) <= SAME
        assert ungrouped.passes == 0 or relative_error(each, ungrouped.q) <= SAME
    assert corrected > 50


def spread_out(state: State, copies: Floats) -> State:
    """Every arm as often as its copies say."""
    losses = np.repeat(state.losses, copies.astype(int), axis=0)
    return dataclasses.replace(state, losses=losses, prior=np.full(len(losses), 1 / len(losses)))


@pytest.mark.parametrize(
    ("arms", "gamma", "guess"),
    [(1, 1.0, 0.0), (4, math.inf, 0.0), (4, 1.0, math.inf), (4, 1.0, math.nan)],
)
def test_the_concealed_solver_falls_back(arms: int, gamma: float, guess: float) -> None:
    """One arm, no entropy, nothing to start from: the plain answer, and a dual to go on from."""
    losses, eta = np.arange(float(arms)), 0.3
    q, dual = np.empty(arms), np.empty(arms + 1)
    work, start = np.empty((kernel.WORK, arms)), np.full(arms + 1, guess)
    passes = kernel.solve_concealed(losses, eta, gamma, start, q, dual, work)
    assert passes == 0 if arms == 1 else passes > 0
    with mp.workdps(40):
        rate = mp.inf if math.isinf(gamma) else gamma
        truth = plain.oracle.argmin_concealed(losses.tolist(), eta, rate)
    assert relative_error(q, np.array([float(x) for x in truth])) <= SAME
    if arms > 1 and gamma < math.inf:
        again = np.empty(arms)
        assert kernel.solve_concealed(losses, eta, gamma, dual.copy(), again, dual, work) == 1
        assert relative_error(again, q) <= SAME
