"""The paper's three learners, each a choice of parts for Algorithm 1."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from belated.ftrl import corrections, estimators, rates
from belated.ftrl.framework import DelayedFTRL
from belated.ftrl.ledger import Ledger, Play
from belated.ftrl.regularizers import (
    LogBarrierOnMarginals,
    NegativeEntropy,
    Nothing,
    Regularizer,
    Tsallis,
)
from belated.types import Setting, Variant


def full_information(
    arms: int, horizon: int, prior: Sequence[float] | None = None, variant: Variant = "paper"
) -> DelayedFTRL:
    """th:fullinfobound: eq:fullinforeg to eq:fullinfoprior; repaired, the grid without the root."""
    size = rates.grid_size(horizon, base=4 if variant == "paper" else 2)
    grid = rates.full_information_grid(arms, horizon, size, damped=variant == "paper")
    start = rates.grid_prior(given_or_uniform(prior, arms), size)
    return DelayedFTRL(
        setting=Setting.FULL_INFORMATION,
        prior_psi=start,
        prior_phi=start,
        psi=lambda ledger: NegativeEntropy(grid(ledger)),
        phi=lambda ledger: Nothing(),
        rates=grid,
        estimate=estimators.as_observed,
        correct=corrections.for_known_missing,
    )


def partially_concealed(
    arms: int,
    horizon: int,
    max_missing: int,
    prior: Sequence[float] | None = None,
    variant: Variant = "paper",
) -> DelayedFTRL:
    """th:banditbound: eq:banditreg1 to eq:banditeta; repaired, outstanding plays guard the rate.

    If nothing can be missing (max_missing = 0) there is neither entropy nor correction, and one
    coordinate for each arm is left. A horizon of 1 makes the barrier infinitely strong (ln T = 0),
    which any fixed rate does as well, since no loss is ever used.
    """
    barrier = rates.barrier_schedule(arms, max(horizon, 2), max_missing, variant == "repaired")
    no_delay = max_missing == 0 or horizon == 1
    size = 1 if no_delay else rates.grid_size(horizon)
    centre = np.full((arms, size), 1.0 / (arms * size))
    grid = (
        (lambda ledger: np.zeros(1))
        if no_delay
        else rates.bandit_grid(arms, horizon, size, max_missing)
    )
    return DelayedFTRL(
        setting=Setting.PARTIALLY_CONCEALED,
        prior_psi=centre,
        prior_phi=centre if no_delay else rates.grid_prior(given_or_uniform(prior, arms), size),
        psi=lambda ledger: LogBarrierOnMarginals(barrier(ledger)),
        phi=lambda ledger: Nothing() if no_delay else NegativeEntropy(grid(ledger)),
        rates=grid,
        estimate=estimators.importance_weighted,
        correct=corrections.for_told_missing,
    )


def concealed(
    arms: int,
    max_missing: int | Callable[[Ledger], int],
    gamma_weight: str | None = None,
    variant: Variant = "paper",
) -> DelayedFTRL:
    """th:concealed: eq:regunknown1 to eq:censoredgamma; repaired, it explores less.

    max_missing may be learned from the ledger.
    """
    spread = 1 if variant == "paper" else arms
    plain = (gamma_weight or ("q" if variant == "paper" else "q+eps")) == "q"
    most = max_missing if callable(max_missing) else lambda ledger: max_missing

    def weight(play: Play) -> float:
        assert play.arm is not None
        extra = 0.0 if plain else rates.exploration(play.round, spread)
        return 1.0 / (float(play.q[play.arm]) + extra)

    gamma = rates.entropy_schedule(arms, most, spread, weight)

    def entropy(ledger: Ledger) -> Regularizer:
        rate = gamma(ledger)
        return Nothing() if rate in (0.0, math.inf) else NegativeEntropy(rate)

    centre = np.full((arms, 1), 1.0 / arms)
    return DelayedFTRL(
        setting=Setting.CONCEALED,
        prior_psi=centre,
        prior_phi=centre,
        psi=lambda ledger: Tsallis(rates.tsallis_schedule(ledger)),
        phi=entropy,
        rates=lambda ledger: np.array([gamma(ledger)]),
        estimate=estimators.implicit_exploration(spread),
        correct=corrections.none,
    )


def given_or_uniform(prior: Sequence[float] | None, arms: int) -> Sequence[float]:
    """The prior pi, uniform if None."""
    return [1.0 / arms] * arms if prior is None else prior
