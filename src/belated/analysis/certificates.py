"""A bound on the regret of a full-information run, from the run itself.

For every comparator u and every rate j of the grid, lem:frameworkregret with the drift paid for by
the corrections gives: regret(u) is at most
(KL(u, pi) - ln w_j) / eta_T(j) + sum_j' w_j' / eta_T(j') - 1 / eta_T(j)
+ 4 sum_t eta_t(j) <u, (1 + rho_t) l_t>. It holds where th:fullinfobound itself does not.

Rates change with rho_t^max only. So the last sum can be had from an account of the game, which has
the charged losses (1 + rho_t) l_t added up over the rounds in which rho_t^max is the same.
"""

from typing import TYPE_CHECKING

import numpy as np

from belated.analysis.regret import Comparator, distribution, divergence
from belated.arrays import Counts, Floats
from belated.ftrl.rates import full_information_rates, grid_weights

if TYPE_CHECKING:
    from belated.analysis.game_sums import GameSums
    from belated.learners.paper.full_information import FullInformation


def certificate(losses: Floats, missing: Counts, rates: Floats, prior: Floats) -> Floats:
    """The bound for each arm i as comparator (row) and each rate j of the grid (column).

    losses and missing have shape (round, arm), rates has shape (round, rate).
    """
    return _against_arms((1.0 + missing) * losses, rates, prior)


def account_certificate(account: "GameSums", learner: "FullInformation") -> Floats:
    """The same for a learner in a game of which only the account is known."""
    charged, rates = _charged(account, learner)
    return _against_arms(charged, rates, np.array(learner.prior))


def mixture_certificate(account: "GameSums", learner: "FullInformation", u: Comparator) -> Floats:
    """The bound for u, a distribution over the arms, and each rate of the grid."""
    charged, rates = _charged(account, learner)
    weights = distribution(u, learner.arms)
    apart = np.array([divergence(weights, np.array(learner.prior))])
    bound: Floats = _certificate(apart, (charged @ weights)[None] @ rates, rates[-1])[0]
    return bound


def _against_arms(charged: Floats, rates: Floats, prior: Floats) -> Floats:
    """charged and rates have a row for each round, or each stretch of rounds of equal rates."""
    with np.errstate(divide="ignore"):
        apart = -np.log(prior)  # KL(e_i, pi)
    return _certificate(apart, charged.T @ rates, rates[-1])


def _certificate(apart: Floats, charges: Floats, last: Floats) -> Floats:
    """KL(u, pi) and sum_t eta_t(j) <u, (1 + rho_t) l_t> of each comparator, and the last rates."""
    weights = grid_weights(last.size)
    start = (apart[:, None] - np.log(weights)) / last + (weights / last).sum() - 1.0 / last
    bound: Floats = start + 4.0 * charges
    return bound


def _charged(account: "GameSums", learner: "FullInformation") -> tuple[Floats, Floats]:
    """The charged losses of the arms for each value of rho_t^max, and the rates in force then."""
    if account.charged is None or account.caps is None:
        raise ValueError("the account has no charged losses; its table would have been too large")
    rates = full_information_rates(
        learner.arms,
        learner.horizon,
        learner.grid_size,
        damped=learner.variant == "paper",
        most_missing=account.caps.astype(np.float64),
    )
    return account.charged, rates
