"""Regret against an arm, against a mixture of arms, and against the paper's balanced mixture."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from belated.arrays import Floats

if TYPE_CHECKING:
    from belated.analysis.game_sums import GameSums

Comparator = int | Sequence[float] | Floats

STEP = 0.2  # the distance of two points of the grid of ln(1/lam)
NEARLY_PRIOR = 1e-8  # if exponents differ by less than this, the softmin is the prior
NEARLY_BEST = 1.02  # a grid point half a step from the minimum is at most half a per cent above it
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


def regrets(total_loss: float, losses: Floats) -> Floats:
    """Return the regret of a total loss against each arm, given the arms' total losses L_T."""
    return total_loss - losses


def regret(total_loss: float, losses: Floats, u: Comparator) -> float:
    """Return the regret of a total loss against u, which is its excess over <u, L_T>."""
    return total_loss - float(distribution(u, losses.size) @ losses)


def distribution(u: Comparator, arms: int) -> Floats:
    """Return u as checked weights of the arms; a whole number means all weight on that arm."""
    if isinstance(u, (int, np.integer)):
        if not 0 <= u < arms:
            raise ValueError(f"u is arm {u}; it must be one of 0 to {arms - 1}")
        return _vertex(int(u), arms)
    weights = np.asarray(u, dtype=np.float64)
    if weights.shape != (arms,):
        raise ValueError(f"u has the shape {weights.shape}; it must have one weight for each arm")
    if not (weights >= 0.0).all():
        raise ValueError(f"u holds {weights.min()}; every weight must be at least 0")
    if not abs(weights.sum() - 1.0) <= 1e-9:
        raise ValueError(f"u sums to {weights.sum()}; it must sum to 1")
    return weights


def divergence(u: Floats, prior: Floats) -> float:
    """Return KL(u, pi) = sum_i u(i) ln(u(i) / pi(i)); infinite if u has weight where pi has none.

    It is summed as u ln(u / pi) - u + pi, whose terms are never negative, so that nothing cancels
    where u is nearly pi: `balance` takes its square root.
    """
    used = u > 0.0
    if (prior[used] == 0.0).any():
        return math.inf
    weights, start = u[used], prior[used]
    apart = weights - start
    close = np.abs(apart) < 0.5 * start
    ratios = np.divide(apart, start, out=np.zeros_like(apart), where=close)
    logs = np.where(close, np.log1p(ratios), np.log(weights) - np.log(start))
    terms = np.maximum(weights * logs - apart, 0.0)
    return float(terms.sum() + prior[~used].sum())


def balance(sums: "GameSums", u: Comparator) -> float:
    """Return <u, L_T> + sqrt(KL(u, pi) <u, L_T + L_T^rho>), the loss of u plus its regret bound.

    The second term is the order of eq:fullintrobound.
    """
    weights = distribution(u, sums.losses.size)
    return _balance(_terms(sums), weights)


def balanced_comparator(sums: "GameSums") -> Floats:
    """Return the u that minimises `balance`, which the paper compares with the best arm.

    It is introduced below eq:fullintrobound and accepts a little more loss for less delay. Since
    sqrt(a b) is the minimum of (lam a + b / lam) / 2 over lam > 0, u is a softmin for some lam. As
    a function of lam the minimum over u may have several local minima, so all local minima on a
    grid are examined; the prior and the single arms, which are limits of softmins, are candidates
    as well.
    """
    possible = sums.prior > 0.0
    losses, charged, prior = (part[possible] for part in _terms(sums))
    u = np.zeros(sums.prior.size)
    u[possible] = _least(BalanceTerms(losses, charged, _normalised(prior)))
    return u


class BalanceTerms(NamedTuple):
    """The terms of `balance` for each arm: L_T, L_T + L_T^rho and pi."""

    losses: Floats
    charged: Floats
    prior: Floats


def _terms(sums: "GameSums") -> BalanceTerms:
    return BalanceTerms(sums.losses, sums.losses + sums.missing_losses, sums.prior)


def _balance(terms: BalanceTerms, u: Floats) -> float:
    apart = divergence(u, terms.prior)
    if math.isinf(apart):
        return math.inf
    return float(u @ terms.losses) + math.sqrt(apart * float(u @ terms.charged))


def _least(terms: BalanceTerms) -> Floats:
    """Return the balanced comparator of arms whose priors are all above zero."""
    free = terms.charged == 0.0
    if free.any():  # the balance is 0 on these arms; of all such u, take the nearest to pi
        return _normalised(np.where(free, terms.prior, 0.0))
    alone = terms.losses + np.sqrt(-np.log(terms.prior) * terms.charged)
    candidates = [terms.prior, _vertex(int(alone.argmin()), alone.size)]
    candidates += [_softmin(terms, x) for x in _dips(terms)]
    return min(candidates, key=lambda u: _balance(terms, u))


def _softmin(terms: BalanceTerms, x: float) -> Floats:
    """Return the u that minimises, for lam = e^-x, the balance with its root written by lam.

    This is <u, L_T> + (lam KL(u, pi) + <u, L_T + L_T^rho> / lam) / 2.
    """
    inverse = math.exp(x)
    exponents = np.log(terms.prior)
    exponents -= inverse * (2.0 * terms.losses + inverse * terms.charged)
    return _normalised(np.exp(exponents - exponents.max()))


def _normalised(weights: Floats) -> Floats:
    normalised: Floats = weights / weights.sum()
    return normalised


def _vertex(arm: int, arms: int) -> Floats:
    weights = np.zeros(arms)
    weights[arm] = 1.0
    return weights


def _dips(terms: BalanceTerms) -> list[float]:
    """Return the local minima, as values of ln(1/lam), of the minimum over u for a fixed lam.

    At the global minimum 1/lam^2 is KL / <u, L_T + L_T^rho>, which gives an upper end of the grid.
    """
    highest = math.sqrt(-math.log(terms.prior.min()) / terms.charged.min())
    spread = 2.0 * np.ptp(terms.losses) + math.sqrt(np.ptp(terms.charged))
    if not highest * spread > NEARLY_PRIOR:
        return []

    def value(x: float) -> float:
        u, inverse = _softmin(terms, x), math.exp(x)
        root = divergence(u, terms.prior) / inverse + inverse * float(u @ terms.charged)
        return float(u @ terms.losses) + 0.5 * root

    grid = np.arange(math.log(NEARLY_PRIOR / spread) - STEP, math.log(highest) + 2 * STEP, STEP)
    values = np.array([value(x) for x in grid])
    inner = values[1:-1]
    dips = (inner < values[:-2]) & (inner <= values[2:]) & (inner <= NEARLY_BEST * values.min())
    return [_refined(value, float(x)) for x in grid[1:-1][dips]]


def _refined(value: Callable[[float], float], x: float) -> float:
    """Return the minimum within a step of x, by a finer grid and then a golden-section search."""
    near = [x + STEP * k / 8.0 for k in range(-8, 9)]
    best = min(near, key=value)
    return _golden(value, best - STEP / 8.0, best + STEP / 8.0)


def _golden(value: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function with one local minimum in [low, high] has it, by golden sections."""
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(50):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = value(right)
    return 0.5 * (low + high)
