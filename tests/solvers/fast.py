"""The fast solvers on the states of `states`, beside the plain ones, which they must equal."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from belated.arrays import Floats
from belated.solvers import concealed as fast_concealed
from belated.solvers import partially_concealed as fast_partially_concealed
from belated.solvers.concealed_safe import solve_concealed_safely
from belated.solvers.full_information import carry_full_information, solve_full_information
from belated.solvers.full_information_safe import solve_full_information_safely
from belated.solvers.partially_concealed_safe import solve_partially_concealed_safely
from belated.solvers.rate_columns import chain, empty_columns, equal_rates, merge
from tests.solvers.states import State


@dataclass(frozen=True)
class Answer:
    """Weights, dual in the form of the fast solvers, and passes: 0 where the fast one gave up."""

    q: Floats
    dual: Floats
    passes: int


Solve = Callable[[State, Floats], Answer]


def sorted_by_rate(state: State) -> State:
    """The same state with the largest rate first, as the learners have them."""
    order = np.argsort(-state.rates, kind="stable")
    rates, weights = state.rates[order], state.weights[order]
    losses = np.ascontiguousarray(state.losses[:, order])
    return State(losses, state.prior, weights, rates, state.eta, state.gamma)


def logs(state: State) -> tuple[Floats, Floats]:
    """ln pi and ln w."""
    with np.errstate(divide="ignore"):  # an arm of prior zero
        return np.log(state.prior), np.log(state.weights)


def rows(state: State) -> tuple[Floats, Floats, Floats, Floats]:
    """Levels, offsets, fresh sums of nothing, and the rates of the rows."""
    columns = empty_columns(state.rates, *logs(state))
    columns.losses[:] = state.losses.T
    merge(columns)
    merged = int(columns.merged[0])
    count = len(columns.losses) - merged + 1
    levels, offsets = columns.levels[:count], columns.offsets[:count]
    return levels, offsets, columns.fresh, state.rates[merged - 1 :]


def full_information(state: State, guess: Floats) -> Answer:
    """The fast full-information argmin."""
    parts = rows(state)
    q, (count, arms) = np.full(len(state.losses), np.nan), parts[0].shape
    work, sums = np.empty((count, arms)), np.empty((2, count))
    c, passes = solve_full_information(*parts, float(guess[0]), q, work, sums[0], sums[1])
    return Answer(q, np.array([c]), passes)


def full_information_safely(state: State, guess: Floats) -> Answer:
    """The plain full-information argmin."""
    p = np.empty_like(state.losses)
    c, passes = solve_full_information_safely(
        state.losses, *logs(state), state.rates, float(guess[0]), p
    )
    return Answer(p.sum(axis=1), np.array([c]), passes)


@dataclass(frozen=True)
class Carried:
    """q and p by rate of a later round, the shift of c, and passes: 0 where it gave up."""

    q: Floats
    weights: Floats
    shift: float
    passes: int


def carried(weights: Floats, arrived: Floats, rates: Floats) -> Carried:
    """The full-information argmin from an earlier round's p by rate, and what has arrived since."""
    q, work = np.full(weights.shape[1], np.nan), np.empty(weights.shape)
    sums, factors = np.empty((2, len(rates)))
    shift, passes, _ = carry_full_information(weights, arrived, rates, q, work, sums, factors)
    return Carried(q, factors[:, None] * work, shift, passes)


def weights_by_rate(state: State) -> tuple[Floats, float]:
    """p of the plain full-information argmin by rate, equal rates as one, and its multiplier."""
    p = np.empty_like(state.losses)
    c, _ = solve_full_information_safely(state.losses, *logs(state), state.rates, np.inf, p)
    merged = equal_rates(state.rates)
    by_rate = np.vstack([p[:, :merged].sum(axis=1), p[:, merged:].T])
    return np.ascontiguousarray(by_rate), c


def after(state: State, arrived: Floats) -> State:
    """The state when the arrivals, plain and weighed, have been learned."""
    plain, weighed = arrived[:, :, None]
    return replace(state, losses=state.losses + (plain + 4.0 * state.rates * weighed))


def partially_concealed(state: State, guess: Floats) -> Answer:
    """The fast partially concealed argmin."""
    arms = len(state.losses)
    q, dual = np.full(arms, np.nan), guess.copy()
    work = np.empty((fast_partially_concealed.WORK, arms))
    levels, offsets, fresh, rates = rows(state)
    ratios = np.full(levels.shape, np.nan)
    chained = bool(chain(rates, levels, offsets, ratios)) and len(rates) > 3
    passes = fast_partially_concealed.correct_together(
        levels, offsets, fresh, ratios, chained, rates, state.eta, q, dual, work
    )
    return Answer(q, dual, passes)


def partially_concealed_safely(state: State, guess: Floats) -> Answer:
    """The plain partially concealed argmin; x_i instead of ln x_i in the dual."""
    arms = len(state.losses)
    p, q, dual = np.empty_like(state.losses), np.empty(arms), np.empty(arms + 1)
    start = np.concatenate([guess[:1], np.log(guess[1:])])
    passes = solve_partially_concealed_safely(
        state.losses, *logs(state), state.rates, state.eta, start, p, q, dual
    )
    return Answer(q, np.concatenate([dual[:1], np.exp(dual[1:])]), passes)


def concealed(state: State, guess: Floats) -> Answer:
    """The fast concealed argmin."""
    return concealed_of(state, guess, np.ones(len(state.losses)), grouped=False)


def concealed_of(state: State, guess: Floats, copies: Floats, grouped: bool) -> Answer:
    """The same, where an arm may stand for several."""
    arms = len(state.losses)
    q, dual = np.full(arms, np.nan), guess.copy()
    work = np.empty((fast_concealed.WORK, arms))
    losses = np.ascontiguousarray(state.losses[:, 0])
    rates = state.eta, state.gamma
    parts = losses, copies, *rates, q, dual, work
    passes = fast_concealed.correct_together(*parts, grouped)
    return Answer(q, dual, passes)


def concealed_safely(state: State, guess: Floats) -> Answer:
    """The plain concealed argmin, and ln w of every arm."""
    q = np.empty(len(state.losses))
    losses = np.ascontiguousarray(state.losses[:, 0])
    c, passes = solve_concealed_safely(losses, state.eta, state.gamma, float(guess[0]), q)
    ratio = state.gamma / (4.0 * state.eta)
    return Answer(q, np.concatenate([[c], math.log(ratio) - 0.5 * np.log(q)]), passes)


PLAIN: dict[Solve, Solve] = {
    full_information: full_information_safely,
    partially_concealed: partially_concealed_safely,
    concealed: concealed_safely,
}


def cold(state: State) -> Floats:
    """A guess of nothing."""
    return np.full(len(state.losses) + 1, np.inf)
