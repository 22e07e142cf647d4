"""Theorems 5 and 6, which are about policies, as bounds on the regret against a comparator of arms.

A theorem bounds the learner's loss by that of each policy n and a term of this policy. The smallest
of these sums, less the loss of the comparator, bounds the regret against the comparator.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from belated.analysis import theorems
from belated.arrays import Floats
from belated.learners.advice.advice import Advice
from belated.learners.advice.advice_bandit import AdviceBandit
from belated.learners.contract import RunOutcome

if TYPE_CHECKING:
    from belated.analysis.game_sums import GameSums


def best_by_policies(policy_losses: Floats, terms: Floats, comparator_loss: float) -> float:
    """Return the bound on the regret against a comparator of this loss."""
    return float((policy_losses + terms).min()) - comparator_loss


def policy_losses(learner: Advice | AdviceBandit, sums: "GameSums") -> Floats:
    """Return the loss of each policy in a game; the arms stand for policies if there are none."""
    return sums.policy_losses if learner.takes_advice else sums.losses


def advised_terms(learner: Advice, run: RunOutcome) -> Floats:
    """Return 4M + 12 + 6 sqrt(c X) + 8cM of Theorem 5 for each policy, from a finished run.

    The slowest rate is the same in all rounds, unless nearly everything is missing, so that X(n) is
    what the run was charged at this rate, divided by the rate. If it fell, this is more than X(n).
    The fastest one is 1/(4M) in the last round.
    """
    slowest, fastest = int(run.eta.argmin()), float(run.eta.max())
    charged = run.weighed[:, slowest] / run.eta[slowest]
    most_missing = 0.25 / fastest - 1.0
    return np.array(
        [
            theorems.repaired_full_information(
                theorems.ComparatorTerms(-math.log(prior), float(each), 0.0),
                learner.horizon,
                most_missing,
            )
            for prior, each in zip(learner.prior or (), charged, strict=True)
        ]
    )


def advised_bandit_terms(
    learner: AdviceBandit, rounds: int, root_spent: float, waiting: float
) -> Floats:
    """Return the bound of Theorem 6 for each policy, from means over runs."""
    return np.array(
        [
            theorems.advised_bandit(
                learner.arms, rounds, learner.size, -math.log(prior), root_spent, waiting
            )
            for prior in learner.prior or ()
        ]
    )
