"""Learners over policies: Theorems 5 and 6 of docs/beyond-the-paper.md as parts of Algorithm 1.

Before each round every policy gives advice, a distribution over the arms. The coordinates of the
algorithm are the policies; the arms are weighed by the mixture of their advice.
"""

from collections.abc import Sequence

import numpy as np

from belated.arrays import Floats
from belated.ftrl import corrections, estimators, rates
from belated.ftrl.framework import DelayedFTRL
from belated.ftrl.instances import given_or_uniform
from belated.ftrl.ledger import Ledger, Play
from belated.ftrl.regularizers import NegativeEntropy, ZeroRegularizer
from belated.types import Setting


def advice(
    arms: int, policies: int, horizon: int, prior: Sequence[float] | None = None
) -> DelayedFTRL:
    """The learner of Theorem 5, which is told the losses of all arms.

    It is the repaired full-information learner over policies, and counts how much of each policy's
    advice is missing: a real number, where the paper counts rounds.
    """
    size = rates.grid_size(horizon, base=2)
    grid = rates.advice_grid(policies, horizon, size)
    start = rates.grid_prior(given_or_uniform(prior, policies), size)
    return DelayedFTRL(
        setting=Setting.FULL_INFORMATION,
        prior_psi=start,
        prior_phi=start,
        psi=lambda ledger: NegativeEntropy(grid(ledger)),
        phi=lambda ledger: ZeroRegularizer(),
        rates=grid,
        estimate=estimators.by_policy(estimators.as_observed),
        correct=corrections.for_missing_mass,
        arms=arms,
    )


def advice_bandit(arms: int, policies: int, prior: Sequence[float] | None = None) -> DelayedFTRL:
    """The learner of Theorem 6, which is told the loss of the arm that it played.

    With one policy gamma_t is 0 and there is nothing to weigh; any rate has the same effect then.
    """
    explored = estimators.by_policy(estimators.implicit_exploration(spread=arms))

    def weight(play: Play) -> Floats:
        assert play.arm is not None
        b = np.asarray(explored(play, play.arm, 1.0))
        return b[:, 0]

    gamma = rates.advice_schedule(policies, arms, weight)
    start = np.array(given_or_uniform(prior, policies))[:, np.newaxis]

    def entropy(ledger: Ledger) -> NegativeEntropy:
        return NegativeEntropy(gamma(ledger) or 1.0)

    return DelayedFTRL(
        setting=Setting.CONCEALED,
        prior_psi=start,
        prior_phi=start,
        psi=entropy,
        phi=lambda ledger: ZeroRegularizer(),
        rates=lambda ledger: np.array([gamma(ledger)]),
        estimate=explored,
        correct=corrections.no_correction,
        arms=arms,
    )
