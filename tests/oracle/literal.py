"""The objective of eq:frameworkprediction, from its Bregman divergences instead of closed forms.

At the minimum of <p, L> + B_Psi(p, p_1^Psi) + B_Phi(p, p_1^Phi) over the simplex all partial
derivatives are equal, so the spread of a claimed minimum, the largest minus the smallest of them,
must vanish. Each regularizer is written as the paper prints it, next to its gradient; the tests
compare the two by differentiating the objective numerically.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mpmath import mp

from .argmin import Matrix, Number, Vector, matrix, product_prior, vector

DIGITS = 120


class Regularizer(NamedTuple):
    """A function of a K x J array p with its gradient, and the centre of its Bregman divergence."""

    value: Callable[[Matrix], Number]
    gradient: Callable[[Matrix], Matrix]
    centre: Matrix


class Problem(NamedTuple):
    """An argmin problem of eq:frameworkprediction: cumulative losses and the parts of R_t."""

    L: Matrix
    parts: list[Regularizer]


def full_problem(
    L: Sequence[Sequence[Number]],
    prior: Sequence[Number],
    weights: Sequence[Number],
    rates: Sequence[Number],
) -> Problem:
    """Psi of eq:fullinforeg centred at eq:fullinfoprior; Phi = 0."""
    with mp.workdps(DIGITS):
        return Problem(matrix(L), [entropy(vector(rates), product_prior(prior, weights))])


def partial_problem(
    L: Sequence[Sequence[Number]],
    prior: Sequence[Number],
    weights: Sequence[Number],
    grid: Sequence[Number],
    eta: Number,
) -> Problem:
    """eq:banditreg1 centred at 1/(KJ) and eq:banditreg2 centred at eq:fullinfoprior."""
    with mp.workdps(DIGITS):
        p1 = product_prior(prior, weights)
        parts = [log_barrier(mp.mpf(eta), uniform_like(p1)), entropy(vector(grid), p1)]
        return Problem(matrix(L), parts)


def concealed_problem(L: Sequence[Number], eta: Number, gamma: Number) -> Problem:
    """eq:regunknown1 and eq:regunknown2, both centred at 1/K, with J = 1."""
    with mp.workdps(DIGITS):
        column = matrix([[y] for y in L])
        centre = uniform_like(column)
        parts = [tsallis(mp.mpf(eta), centre), entropy([mp.mpf(gamma)], centre)]
        return Problem(column, parts)


def stationarity_spread(problem: Problem, p: Sequence[Sequence[Number]]) -> Number:
    """Largest minus smallest partial derivative of the objective at p."""
    with mp.workdps(DIGITS):
        slopes = [slope for row in objective_gradient(problem, matrix(p)) for slope in row]
        return max(slopes) - min(slopes)


def objective(problem: Problem, p: Matrix) -> Number:
    """<p, L> + R_t(p), with R_t of eq:FTRLregularizer."""
    return inner(p, problem.L) + sum(bregman(part, p) for part in problem.parts)


def objective_gradient(problem: Problem, p: Matrix) -> Matrix:
    """L + grad Psi(p) - grad Psi(p_1^Psi) + grad Phi(p) - grad Phi(p_1^Phi)."""
    total = problem.L
    for part in problem.parts:
        slope = difference(part.gradient(p), part.gradient(part.centre))
        total = [[x + y for x, y in zip(*r, strict=True)] for r in zip(total, slope, strict=True)]
    return total


def bregman(F: Regularizer, p: Matrix) -> Number:
    """B_F(p, y) = F(p) - F(y) - <grad F(y), p - y> (below eq:FTRLregularizer)."""
    y = F.centre
    return F.value(p) - F.value(y) - inner(F.gradient(y), difference(p, y))


def entropy(rates: Vector, centre: Matrix) -> Regularizer:
    """eq:fullinforeg, eq:banditreg2 and eq:regunknown2; zero at infinite rates."""

    def value(p: Matrix) -> Number:
        return sum(x * mp.log(x) / r for row in p for x, r in zip(row, rates, strict=True))

    def gradient(p: Matrix) -> Matrix:
        return [[(mp.log(x) + 1) / r for x, r in zip(row, rates, strict=True)] for row in p]

    return Regularizer(value, gradient, centre)


def log_barrier(eta: Number, centre: Matrix) -> Regularizer:
    """eq:banditreg1: -(1/eta) sum_i ln(sum_gamma p(i, gamma))."""

    def value(p: Matrix) -> Number:
        return -sum(mp.log(sum(row)) for row in p) / eta

    def gradient(p: Matrix) -> Matrix:
        return [[-1 / (eta * sum(row))] * len(row) for row in p]

    return Regularizer(value, gradient, centre)


def tsallis(eta: Number, centre: Matrix) -> Regularizer:
    """eq:regunknown1: -(1/eta) sum_i sqrt(p(i))."""

    def value(p: Matrix) -> Number:
        return -sum(mp.sqrt(x) for row in p for x in row) / eta

    def gradient(p: Matrix) -> Matrix:
        return [[-1 / (2 * eta * mp.sqrt(x)) for x in row] for row in p]

    return Regularizer(value, gradient, centre)


def uniform_like(p: Matrix) -> Matrix:
    cells = len(p) * len(p[0])
    return [[mp.mpf(1) / cells for _ in row] for row in p]


def inner(x: Matrix, y: Matrix) -> Number:
    return sum(a * b for rows in zip(x, y, strict=True) for a, b in zip(*rows, strict=True))


def difference(x: Matrix, y: Matrix) -> Matrix:
    return [[a - b for a, b in zip(*rows, strict=True)] for rows in zip(x, y, strict=True)]
