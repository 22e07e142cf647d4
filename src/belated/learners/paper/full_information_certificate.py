"""A bound on the regret of a full-information run that is computed from the run itself.

For every comparator u and every rate j of the grid, lem:frameworkregret with the drift paid for by
the corrections gives: regret(u) is at most
(KL(u, pi) - ln w_j) / eta_T(j) + sum_j' w_j' / eta_T(j') - 1 / eta_T(j)
+ 4 sum_t eta_t(j) <u, (1 + rho_t) l_t>. It holds where th:fullinfobound itself does not.

Rates change with rho_t^max only. So the last sum can be found from the charged losses
(1 + rho_t) l_t, added up over the rounds in which rho_t^max is the same.
"""

import numpy as np

from belated.arrays import Floats
from belated.ftrl.rates import grid_weights


def against_arms(charged: Floats, rates: Floats, prior: Floats) -> Floats:
    """Return the bound for each arm i as comparator (row) and each rate j of the grid (column).

    charged and rates have a row for each round, or for each stretch of rounds of equal rates.
    """
    with np.errstate(divide="ignore"):
        apart = -np.log(prior)  # KL(e_i, pi)
    return certificate_from(apart, charged.T @ rates, rates[-1])


def certificate_from(apart: Floats, charges: Floats, last: Floats) -> Floats:
    """Return the bound for several comparators u (rows) and all rates of the grid (columns).

    apart has KL(u, pi), charges has sum_t eta_t(j) <u, (1 + rho_t) l_t>, and last the last rates.
    """
    weights = grid_weights(last.size)
    start = (apart[:, None] - np.log(weights)) / last + (weights / last).sum() - 1.0 / last
    bound: Floats = start + 4.0 * charges
    return bound
