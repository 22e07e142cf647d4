"""The certificate of a full-information run (see `full_information_certificate`) in other forms.

The learner's own method computes the bound against each arm from the sums of a game. The functions
here compute it from all rounds of a game, for all rates, and for distributions as comparators.
"""

from typing import TYPE_CHECKING

import numpy as np

from belated.analysis.regret import Comparator, distribution, divergence
from belated.arrays import Counts, Floats
from belated.learners.paper.full_information_certificate import against_arms, certificate_from

if TYPE_CHECKING:
    from belated.analysis.game_sums import GameSums
    from belated.learners.paper.full_information import FullInformation


def certificate(losses: Floats, missing: Counts, rates: Floats, prior: Floats) -> Floats:
    """Return the bound for each arm i as comparator (row) and each rate j of the grid (column).

    losses and missing have shape (round, arm), rates has shape (round, rate).
    """
    return against_arms((1.0 + missing) * losses, rates, prior)


def account_certificate(account: "GameSums", learner: "FullInformation") -> Floats:
    """Return the bound for each arm (row) and rate (column), from the sums of a game."""
    charged, rates = _charged(account, learner)
    return against_arms(charged, rates, np.array(learner.prior))


def mixture_certificate(account: "GameSums", learner: "FullInformation", u: Comparator) -> Floats:
    """Return the bound for u, a distribution over the arms, and each rate of the grid."""
    charged, rates = _charged(account, learner)
    weights = distribution(u, learner.arms)
    apart = np.array([divergence(weights, np.array(learner.prior))])
    bound: Floats = certificate_from(apart, (charged @ weights)[None] @ rates, rates[-1])[0]
    return bound


def _charged(account: "GameSums", learner: "FullInformation") -> tuple[Floats, Floats]:
    """Return the charged losses of the arms for each value of rho_t^max, and the rates for it."""
    if account.charged is None or account.caps is None:
        raise ValueError("the account has no charged losses; its table would have been too large")
    return account.charged, learner.rates_at(account.caps)
