"""A bound on the regret of a full-information run, from the run itself.

For every comparator u and every rate j of the grid, lem:frameworkregret with the drift paid for by
the corrections gives: regret(u) is at most
(KL(u, pi) - ln w_j) / eta_T(j) + sum_j' w_j' / eta_T(j') - 1 / eta_T(j)
+ 4 sum_t eta_t(j) <u, (1 + rho_t) l_t>. It holds where th:fullinfobound itself does not.
"""

import numpy as np
from numpy.typing import NDArray

from belated.ftrl.rates import grid_weights

Floats = NDArray[np.float64]


def regret_against_arms(q: Floats, losses: Floats) -> Floats:
    """The regret of the predictions q_t against each arm: sum_t <q_t - e_i, l_t>."""
    regret: Floats = (q * losses).sum() - losses.sum(axis=0)
    return regret


def certificate(losses: Floats, missing: NDArray[np.int64], rates: Floats, prior: Floats) -> Floats:
    """The bound for each arm i as comparator (row) and each rate j of the grid (column).

    losses and missing have shape (round, arm), rates has shape (round, rate).
    """
    weights = grid_weights(rates.shape[1])
    last = rates[-1]
    with np.errstate(divide="ignore"):
        divergence = -np.log(prior)[:, None]  # KL(e_i, pi)
    start = (divergence - np.log(weights)) / last + (weights / last).sum() - 1.0 / last
    bound: Floats = start + 4.0 * ((1.0 + missing) * losses).T @ rates
    return bound
