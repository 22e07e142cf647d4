"""Learning rates: grids (many rates at once), schedules (one over time), the prior over a grid.

Grids and schedules are functions of the ledger, which holds all that a learner may use.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from belated.arrays import Floats
from belated.ftrl.ledger import Ledger, Play
from belated.ftrl.skipping import skipped_plays

Grid = Callable[[Ledger], Floats]
Schedule = Callable[[Ledger], float]


def grid_size(horizon: int, base: int = 4) -> int:
    """J, the number of rates: the smallest j >= 1 with base^j >= T.

    With the paper's base 4 this is ceil(log2(sqrt(T))).
    """
    size = 1
    while base**size < horizon:
        size += 1
    return size


def halvings(size: int) -> Floats:
    """The array 2^-j for j = 1..J, where J is the size."""
    return np.ldexp(1.0, -np.arange(1, size + 1))


def grid_weights(size: int) -> Floats:
    """The prior weights w_j of the rates in eq:fullinfoprior: 4^-j, normalised to sum to one."""
    weights: Floats = halvings(size) ** 2
    weights /= weights.sum()
    return weights


def grid_prior(prior: Sequence[float], size: int) -> Floats:
    """The prior p_1(i, j) = w_j pi(i) of eq:fullinfoprior, of shape (arm, rate)."""
    return np.outer(np.asarray(prior, dtype=np.float64), grid_weights(size))


def full_information_rates(
    arms: int, horizon: int, size: int, damped: bool, most_missing: Floats
) -> Floats:
    """The rates of eq:fullinfoeta, one row of J rates for each value of rho_t^max given.

    `damped=False` leaves out the root sqrt(1 + rho_t^max): the grid of the repaired variant.
    """
    steps = math.sqrt(math.log(arms) + 2.0 * (math.log(horizon) + 1.0)) / 4.0 * halvings(size)
    present = 1.0 + most_missing[:, None]
    rates: Floats = np.minimum(0.25 / present, steps / np.sqrt(present) if damped else steps)
    return rates


def full_information_grid(arms: int, horizon: int, size: int, damped: bool = True) -> Grid:
    """The grid eq:fullinfoeta; with `damped=False` the grid that repairs th:fullinfobound."""

    def rates(ledger: Ledger) -> Floats:
        most = np.array([float(ledger.most_missing())])
        row: Floats = full_information_rates(arms, horizon, size, damped, most)[0]
        return row

    return rates


def advice_grid(policies: int, horizon: int, size: int) -> Grid:
    """The grid of Theorem 5: that of the repaired variant, with rho_t^max a missing mass."""

    def rates(ledger: Ledger) -> Floats:
        most = np.array([ledger.most_missing_mass(policies)])
        row: Floats = full_information_rates(policies, horizon, size, False, most)[0]
        return row

    return rates


def bandit_grid(arms: int, horizon: int, size: int, max_missing: int) -> Grid:
    """The grid eq:banditgamma, which is constant over the rounds."""
    steps = math.sqrt(math.log(arms) + math.log(horizon) + 1.0) / 4.0 * halvings(size)
    rates = np.minimum(0.25 / max_missing, steps / math.sqrt(max_missing))
    return lambda ledger: rates


def barrier_schedule(arms: int, horizon: int, max_missing: int, guarded: bool = False) -> Schedule:
    """The schedule eq:banditeta of the log barrier's rate.

    `guarded` replaces `max_missing` by the largest number of outstanding plays so far.
    """

    def rate(ledger: Ledger) -> float:
        absent = ledger.most_outstanding() if guarded else max_missing
        past = 4.0 * (1.0 + absent) + 4.0 * ledger.observed_loss()
        return math.sqrt(arms * math.log(horizon) / past)

    return rate


def tsallis_schedule(ledger: Ledger) -> float:
    """The rate eta_t = 1/sqrt(4 t) of th:concealed."""
    return 1.0 / math.sqrt(4.0 * ledger.round)


def exploration(round_: int, spread: int = 1) -> float:
    """epsilon_t = 1/sqrt(spread t): spread 1 in th:concealed, spread K in the repaired variant."""
    return 1.0 / math.sqrt(spread * round_)


def promised_cost(max_missing: Callable[[Ledger], int], spread: int) -> Schedule:
    """rho*/epsilon_t of eq:censoredgamma: what the plays that may wait with the coming one cost."""
    return lambda ledger: max_missing(ledger) / exploration(ledger.round, spread)


def largest_cost_so_far(weight: Callable[[Play], float]) -> Schedule:
    """W_t of Proposition 2: the largest cost of one arm's outstanding plays at a round's start."""

    def cost(ledger: Ledger) -> float:
        most = 0.0
        for s in range(1, ledger.round + 1):
            costs = [0.0] * ledger.arms
            for play in ledger.outstanding_at(s):
                assert play.arm is not None
                costs[play.arm] += weight(play)
            most = max(most, *costs)
        return most

    return cost


def entropy_schedule(arms: int, bound: Schedule, weight: Callable[[Play], float]) -> Schedule:
    """The schedule eq:censoredgamma; `weight` gives the cost of one outstanding play.

    `bound` is what the play to come costs at most, and to it is added what the earlier ones cost.
    The rate is infinite while the total cost is zero.
    """

    def rate(ledger: Ledger) -> float:
        cost = bound(ledger)
        for play in ledger.plays:
            cost += sum(weight(ledger.plays[s - 1]) for s in play.waiting)
        return math.sqrt(math.log(arms) / cost) if cost > 0.0 else math.inf

    return rate


def skipping_schedule(arms: int, weight: Callable[[Play], float]) -> Schedule:
    """The schedule gamma_t = sqrt(ln K / (W_t + Z_t)) of Theorem 9; infinite while both are 0."""

    def rate(ledger: Ledger) -> float:
        found = skipped_plays(ledger, weight)
        cost = found.most_waiting + found.cost
        return math.sqrt(math.log(arms) / cost) if cost > 0.0 else math.inf

    return rate


def advice_schedule(policies: int, arms: int, weight: Callable[[Play], Floats]) -> Schedule:
    """The rate gamma_t = sqrt(ln N / (sqrt(K t)/4 + W_t + sum_{s<t} (v_s + z_s))) of Theorem 6.

    `weight` gives b_s(n), the weights of a play by policy.
    """

    def waiting(ledger: Ledger, round_: int) -> Floats:
        """w_t(n): the weights of all own plays outstanding at the start of a round."""
        plays = ledger.outstanding_at(round_)
        return sum((weight(play) for play in plays), start=np.zeros(policies))

    def rate(ledger: Ledger) -> float:
        waits = [waiting(ledger, s) for s in range(1, ledger.round + 1)]
        spent = 0.0
        for play, w in zip(ledger.plays, waits, strict=False):
            spent += float(play.p[:, 0] @ (weight(play) * (weight(play) + w)))
        most = max(float(w.max()) for w in waits)
        cost = math.sqrt(arms * ledger.round) / 4.0 + most + spent
        return math.sqrt(math.log(policies) / cost)

    return rate
