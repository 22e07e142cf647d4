"""Where certified trust stands after some rounds: C_t(u) against b_t, and what the fallback cost.

Nothing is learned here: this reads the account of Theorem 4 for people and for bounds.
"""

import math

import numpy as np

from belated.learners.contract import TrustStanding
from belated.learners.paper.concealed import ConcealedState
from belated.learners.practical.certified_trust import (
    TrustAccount,
    estimated_regret,
    is_certified,
    trust_budget,
)


def trust_standing(
    account: TrustAccount, beta: float, rounds: int, fallback: ConcealedState
) -> TrustStanding:
    """Return the standing after so many rounds, from the account and the fallback's state."""
    arms = account.estimates.shape[0]
    budget = float(trust_budget(account, beta, rounds + 1))
    last = float(beta * math.sqrt(arms * rounds) + account.most_outstanding[0])
    return TrustStanding(
        rounds=rounds,
        by_fallback=int(fallback.round[0]) - 1,
        regrets=np.array([float(estimated_regret(account, u)) for u in range(arms)]),
        budget=budget,
        last_budget=last,
        trusted=bool(is_certified(account, budget)),
        overlap=float(fallback.overlap[0]),
        most_waiting=float(fallback.most_waiting[0]),
    )
