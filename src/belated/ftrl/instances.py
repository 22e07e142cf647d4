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
    Regularizer,
    Tsallis,
    ZeroRegularizer,
)
from belated.ftrl.skipping import skipped_plays
from belated.types import Setting, Variant


def full_information(
    arms: int, horizon: int, prior: Sequence[float] | None = None, variant: Variant = "paper"
) -> DelayedFTRL:
    """The full-information learner of th:fullinfobound, with eq:fullinforeg to eq:fullinfoprior.

    The repaired variant has a longer grid, without the root sqrt(1 + rho_t^max) (erratum E1).
    """
    size = rates.grid_size(horizon, base=4 if variant == "paper" else 2)
    grid = rates.full_information_grid(arms, horizon, size, damped=variant == "paper")
    start = rates.grid_prior(given_or_uniform(prior, arms), size)
    return DelayedFTRL(
        setting=Setting.FULL_INFORMATION,
        prior_psi=start,
        prior_phi=start,
        psi=lambda ledger: NegativeEntropy(grid(ledger)),
        phi=lambda ledger: ZeroRegularizer(),
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
    """The partially concealed learner of th:banditbound, with eq:banditreg1 to eq:banditeta.

    The repaired variant puts the largest number of outstanding plays so far in the place of
    `max_missing` in the barrier's rate (erratum E3). If nothing can be missing (max_missing = 0),
    there is neither entropy nor correction, and each arm has one coordinate. A horizon of 1 gives
    an infinitely strong barrier (ln T = 0); any rate has the same effect then, as no loss is used.
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
        phi=lambda ledger: ZeroRegularizer() if no_delay else NegativeEntropy(grid(ledger)),
        rates=grid,
        estimate=estimators.importance_weighted,
        correct=corrections.for_reported_missing,
    )


def concealed(
    arms: int,
    max_missing: int | Callable[[Ledger], int] | None,
    gamma_weight: str | None = None,
    variant: Variant = "paper",
    skipping: bool = False,
) -> DelayedFTRL:
    """The concealed learner of th:concealed, with eq:regunknown1 to eq:censoredgamma.

    `max_missing` is rho*, a number or a function of the ledger, or None to do without a promise
    (Proposition 2 of docs/beyond-the-paper.md, about the repaired variant). `gamma_weight` chooses
    the weight of an outstanding play in eq:censoredgamma: "q" for 1/q_s, "q+eps" for
    1/(q_s + epsilon_s); the default is "q" for the paper and "q+eps" for the repaired variant
    (erratum E5). The repaired variant explores less, with epsilon_t = 1/sqrt(K t) (erratum E2), and
    without a promise it can skip plays that have waited too long (Theorem 9).
    """
    spread = 1 if variant == "paper" else arms
    plain = (gamma_weight or ("q" if variant == "paper" else "q+eps")) == "q"

    def weight(play: Play) -> float:
        assert play.arm is not None
        extra = 0.0 if plain else rates.exploration(play.round, spread)
        return 1.0 / (float(play.q[play.arm]) + extra)

    if max_missing is None:
        bound = rates.largest_cost_so_far(weight)
    else:
        most = max_missing if callable(max_missing) else lambda ledger: max_missing
        bound = rates.promised_cost(most, spread)
    gamma = rates.entropy_schedule(arms, bound, weight)
    if skipping:
        gamma = rates.skipping_schedule(arms, weight)

    def entropy(ledger: Ledger) -> Regularizer:
        rate = gamma(ledger)
        return ZeroRegularizer() if rate in (0.0, math.inf) else NegativeEntropy(rate)

    def counts(ledger: Ledger, play: Play) -> bool:
        return play.round not in skipped_plays(ledger, weight).since

    centre = np.full((arms, 1), 1.0 / arms)
    return DelayedFTRL(
        setting=Setting.CONCEALED,
        prior_psi=centre,
        prior_phi=centre,
        psi=lambda ledger: Tsallis(rates.tsallis_schedule(ledger)),
        phi=entropy,
        rates=lambda ledger: np.array([gamma(ledger)]),
        estimate=estimators.implicit_exploration(spread),
        correct=corrections.no_correction,
        counts=counts if skipping else None,
    )


def given_or_uniform(prior: Sequence[float] | None, arms: int) -> Sequence[float]:
    """The prior pi over the arms; uniform if `prior` is None."""
    return [1.0 / arms] * arms if prior is None else prior
