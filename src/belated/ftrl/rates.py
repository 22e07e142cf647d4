"""Learning rates: grids (many at once), schedules (one over time), and the prior over a grid.

Grids and schedules are plain functions of the ledger, which holds what the learner may know.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from belated.arrays import Floats
from belated.ftrl.ledger import Ledger, Play

Grid = Callable[[Ledger], Floats]
Schedule = Callable[[Ledger], float]


def grid_size(horizon: int, base: int = 4) -> int:
    """J, the smallest j >= 1 with base^j >= T: ceil(log2(sqrt(T))) for the paper's base 4."""
    size = 1
    while base**size < horizon:
        size += 1
    return size


def halvings(size: int) -> Floats:
    """2^-j for j = 1..J."""
    return np.ldexp(1.0, -np.arange(1, size + 1))


def grid_weights(size: int) -> Floats:
    """The prior weights of the rates in eq:fullinfoprior: 4^-j, normalised."""
    weights: Floats = halvings(size) ** 2
    weights /= weights.sum()
    return weights


def grid_prior(prior: Sequence[float], size: int) -> Floats:
    """p_1(i, j) = w_j pi(i) of eq:fullinfoprior."""
    return np.outer(np.asarray(prior, dtype=np.float64), grid_weights(size))


def full_information_rates(
    arms: int, horizon: int, size: int, damped: bool, most_missing: Floats
) -> Floats:
    """eq:fullinfoeta for each rho_t^max given (row); not damped, the repaired grid."""
    steps = math.sqrt(math.log(arms) + 2.0 * (math.log(horizon) + 1.0)) / 4.0 * halvings(size)
    present = 1.0 + most_missing[:, None]
    rates: Floats = np.minimum(0.25 / present, steps / np.sqrt(present) if damped else steps)
    return rates


def full_information_grid(arms: int, horizon: int, size: int, damped: bool = True) -> Grid:
    """eq:fullinfoeta; not damped, the grid that repairs th:fullinfobound."""

    def rates(ledger: Ledger) -> Floats:
        most = np.array([float(ledger.most_missing())])
        row: Floats = full_information_rates(arms, horizon, size, damped, most)[0]
        return row

    return rates


def bandit_grid(arms: int, horizon: int, size: int, max_missing: int) -> Grid:
    """eq:banditgamma, the same in every round."""
    steps = math.sqrt(math.log(arms) + math.log(horizon) + 1.0) / 4.0 * halvings(size)
    rates = np.minimum(0.25 / max_missing, steps / math.sqrt(max_missing))
    return lambda ledger: rates


def barrier_schedule(arms: int, horizon: int, max_missing: int, guarded: bool = False) -> Schedule:
    """eq:banditeta; guarded, the plays outstanding take the place of max_missing."""

    def rate(ledger: Ledger) -> float:
        absent = ledger.most_outstanding() if guarded else max_missing
        past = 4.0 * (1.0 + absent) + 4.0 * ledger.observed_loss()
        return math.sqrt(arms * math.log(horizon) / past)

    return rate


def tsallis_schedule(ledger: Ledger) -> float:
    """eta_t = 1/sqrt(4 t) of th:concealed."""
    return 1.0 / math.sqrt(4.0 * ledger.round)


def exploration(round_: int, spread: int = 1) -> float:
    """epsilon_t = 1/sqrt(t) of th:concealed; repaired, 1/sqrt(K t) with spread = K."""
    return 1.0 / math.sqrt(spread * round_)


def entropy_schedule(
    arms: int, max_missing: Callable[[Ledger], int], spread: int, weight: Callable[[Play], float]
) -> Schedule:
    """eq:censoredgamma, with the weight of an outstanding play; infinite if its cost is zero."""

    def rate(ledger: Ledger) -> float:
        cost = max_missing(ledger) / exploration(ledger.round, spread)
        for play in ledger.plays:
            cost += sum(weight(ledger.plays[s - 1]) for s in play.waiting)
        return math.sqrt(math.log(arms) / cost) if cost > 0.0 else math.inf

    return rate
