"""Regret against an arm, against a mixture of arms, and against the paper's balanced mixture."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from belated.arrays import Floats

if TYPE_CHECKING:
    from belated.analysis.game_sums import GameSums

Comparator = int | Sequence[float] | Floats

STEP = 0.2  # of ln(1/lam) between two points of the grid
NEARLY_PRIOR = 1e-8  # exponents that differ by less leave the softmin at the prior
NEARLY_BEST = 1.02  # half a step from the least value, a grid is off by half a per cent
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


def regrets(total_loss: float, losses: Floats) -> Floats:
    """The regret of a total loss against each arm, given the total losses L_T of the arms."""
    return total_loss - losses


def regret(total_loss: float, losses: Floats, u: Comparator) -> float:
    """The regret of a total loss against u: its excess over <u, L_T>."""
    return total_loss - float(distribution(u, losses.size) @ losses)


def distribution(u: Comparator, arms: int) -> Floats:
    """u as weights over the arms, checked; a whole number stands for that arm alone."""
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
    """KL(u, pi) = sum_i u(i) ln(u(i) / pi(i)); infinite if u has weight where pi has none.

    Summed as u ln(u / pi) - u + pi, which is never negative, so that nothing cancels where u is
    nearly pi: the balance below has its square root.
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
    """<u, L_T> + sqrt(KL(u, pi) <u, L_T + L_T^rho>), the order of loss plus eq:fullintrobound."""
    weights = distribution(u, sums.losses.size)
    return _balance(_terms(sums), weights)


def balanced_comparator(sums: "GameSums") -> Floats:
    """The u that minimises `balance`: the comparator that the paper compares with the best arm.

    It is introduced below eq:fullintrobound: a little more loss, if that comes with less delay.
    Since sqrt(a b) is the least (lam a + b / lam) / 2 over lam > 0, u is a softmin for some lam. As
    a function of lam the least value may have several dips, so all dips of a grid are examined; the
    prior and the single arms, which are limits of softmins, are candidates as well.
    """
    possible = sums.prior > 0.0
    losses, charged, prior = (part[possible] for part in _terms(sums))
    u = np.zeros(sums.prior.size)
    u[possible] = _least(BalanceTerms(losses, charged, _normalised(prior)))
    return u


class BalanceTerms(NamedTuple):
    """L_T, L_T + L_T^rho and pi, arm by arm."""

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
    """The balanced comparator of arms whose priors are all above zero."""
    free = terms.charged == 0.0
    if free.any():  # nothing is better than nothing; of all such u, the nearest to the prior
        return _normalised(np.where(free, terms.prior, 0.0))
    alone = terms.losses + np.sqrt(-np.log(terms.prior) * terms.charged)
    candidates = [terms.prior, _vertex(int(alone.argmin()), alone.size)]
    candidates += [_softmin(terms, x) for x in _dips(terms)]
    return min(candidates, key=lambda u: _balance(terms, u))


def _softmin(terms: BalanceTerms, x: float) -> Floats:
    """The u of the least <u, L_T> + (lam KL(u, pi) + <u, L_T + L_T^rho> / lam) / 2, lam = e^-x."""
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
    """Where the least value for a fixed lam is locally least, as a function of ln(1/lam).

    At the least of all 1/lam^2 is KL / <u, L_T + L_T^rho>, which bounds it from above.
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
    """The place of the least value within a step of x: a finer grid, then golden sections."""
    near = [x + STEP * k / 8.0 for k in range(-8, 9)]
    best = min(near, key=value)
    return _golden(value, best - STEP / 8.0, best + STEP / 8.0)


def _golden(value: Callable[[float], float], low: float, high: float) -> float:
    """The least of a function with one dip between low and high, by golden sections."""
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
