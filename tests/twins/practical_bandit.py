"""The practical bandit from the parts of Algorithm 1 and the records of a game, without any sum."""

import math
from dataclasses import replace

import numpy as np

from belated.ftrl import DelayedFTRL, Regularizer, Tsallis, ZeroRegularizer, concealed
from belated.ftrl.ledger import Ledger, Play
from belated.ftrl.regularizers import Floats
from tests.twins.practical_hints import Imputing, without_trust


def nothing(play: Play, arm: int, loss: float) -> float:
    """ltil = 0: the hint stands for all losses, so that Algorithm 1 itself adds up none."""
    return 0.0


def practical_bandit(
    arms: int,
    rate: float = 6.0,
    width: float = 0.85,
    checks: float = 5.0,
    patience: float = 8.0,
    forgets: bool = True,
    levels: bool = True,
    listens: bool = True,
) -> DelayedFTRL:
    """All is in the hint; while it is trusted, eta_t is rate/sqrt(t), and arms are checked upon.

    Rounds without trust are those of a repaired concealed bandit that knows of no others, and of
    them the most plays of one arm that were outstanding.
    """
    repaired = concealed(arms, Ledger.most_waiting, variant="repaired")
    imputing = Imputing(repaired.estimate, width, checks, patience, forgets, levels, listens)

    def psi(ledger: Ledger) -> Regularizer:
        if imputing.is_trusted(ledger):
            return Tsallis(rate / math.sqrt(ledger.round))
        return repaired.psi(without_trust(ledger))

    def phi(ledger: Ledger) -> Regularizer:
        return (
            ZeroRegularizer()
            if imputing.is_trusted(ledger)
            else repaired.phi(without_trust(ledger))
        )

    def own_rates(ledger: Ledger) -> Floats:
        trusted = imputing.is_trusted(ledger)
        return np.zeros(0) if trusted else repaired.rates(without_trust(ledger))

    return replace(
        repaired,
        psi=psi,
        phi=phi,
        rates=own_rates,
        estimate=nothing,
        hint=imputing.hint,
        explore=imputing.checked,
    )
