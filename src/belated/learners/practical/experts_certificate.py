"""A bound on the regret of a run of `practical-experts` that is computed from the run itself.

docs/theory-practical.md proves it for every run, whatever the losses, the delays and the guesses
were. The drift accounts of the last round are corrected: every loss that was still missing is
entered at its true value. Then the steady strategy has lost at most
D + ln K/eta_T - Phi_1 more than any expert, and the mixture at most D' + ln(1/pi(m))/eta'_T more
than strategy m; the sum of both, with m the steady strategy, bounds the regret.
"""

import math
from dataclasses import dataclass

import numpy as np

from belated.arrays import Floats
from belated.learners.practical.drift import DriftAccount

ROUNDING = 1e-12  # the rounding error that sums may have, relative to the total loss


@dataclass(frozen=True)
class Against:
    """The regret of a player against several others, and the terms of the bound on it."""

    regret: Floats
    drift: float  # D with everything at its true value
    prior: Floats  # ln(1/pi)/eta_T of each of the others
    start: float  # Phi_1, of the guesses with which the first round began

    @property
    def bound(self) -> Floats:
        """The bound D + ln(1/pi)/eta_T - Phi_1 on the regret against each of the others."""
        bound: Floats = self.drift + self.prior - self.start
        return bound


@dataclass(frozen=True)
class PracticalCertificate:
    """The steady strategy against the experts, and the mixture against the strategies."""

    steady: Against
    mixing: Against
    lost: float  # by the mixture

    @property
    def regret(self) -> Floats:
        """The regret of the mixture against each expert."""
        regret: Floats = self.mixing.regret[0] + self.steady.regret
        return regret

    @property
    def bound(self) -> float:
        """The bound that the regret against no expert exceeds."""
        return float(self.mixing.bound[0] + self.steady.bound.max())

    @property
    def holds(self) -> bool:
        """Whether every regret is within its bound, up to rounding."""
        rounding = ROUNDING * (1.0 + self.lost + self.steady.regret.size)
        return all(
            (each.regret <= each.bound + rounding).all() for each in (self.steady, self.mixing)
        )


@dataclass(frozen=True)
class Player:
    """One of the two players when the run is over: its account, its rate, its prior and Phi_1."""

    account: DriftAccount
    rate: float
    log_prior: Floats
    start: float

    def against(self, lost: float, others: Floats) -> Against:
        """Enter the true losses in the account, and return the regret with its bound."""
        risen = level(others, self.rate, self.log_prior) - float(self.account.level[0])
        drift = float(self.account.drift[0]) + (lost - float(self.account.lost[0])) - risen
        return Against(lost - others, drift, -self.log_prior / self.rate, self.start)


def closed(
    steady: Player, mixing: Player, arms: Floats, strategies: Floats, mixture: float
) -> PracticalCertificate:
    """Make the certificate of a run from the losses of the arms, strategies and mixture.

    The steady strategy is the first of the strategies.
    """
    return PracticalCertificate(
        steady.against(float(strategies[0]), arms), mixing.against(mixture, strategies), mixture
    )


def even_prior(arms: int) -> Floats:
    """Return ln pi of every arm, if all have the same prior."""
    return np.full(arms, -math.log(arms))


def level(values: Floats, rate: float, log_prior: Floats) -> float:
    """Return Phi = -(1/eta) ln sum_i pi(i) exp(-eta v(i))."""
    least = float(values.min())
    return least - float(np.logaddexp.reduce(log_prior - rate * (values - least))) / rate
