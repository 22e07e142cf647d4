"""A bound on the regret of a run of `practical-experts`, from the run itself.

docs/theory-practical.md proves it for every run, whatever the losses, the delays and the guesses
were. The drift accounts of the last round are brought up to the truth: all that was still missing
is put in at its true value. Then the steady strategy has lost at most
D + ln K/eta_T - Phi_1 more than any expert, and the mixture at most D' + ln(1/pi(m))/eta'_T more
than strategy m; the sum of both, with m the steady strategy, bounds the regret.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from belated.analysis.game_sums import GameSums
from belated.analysis.regret import regrets
from belated.arrays import Floats
from belated.learners.contract import Prediction
from belated.learners.practical.drift import DRIFT, LEVEL, LOST, PLACES
from belated.learners.practical.practical_experts import (
    MIXING,
    STEADY,
    STRATEGIES,
    PracticalExperts,
)
from belated.play.trace import Trace

ROUNDING = 1e-12  # relative to all that was lost: by so much sums of rounded numbers may be off


@dataclass(frozen=True)
class Against:
    """A player against several others: its regret, and drift, prior and start that bound it."""

    regret: Floats
    drift: float  # D with everything at its true value
    prior: Floats  # ln(1/pi)/eta_T of each of the others
    start: float  # Phi_1, of the guesses with which the first round began

    @property
    def bound(self) -> Floats:
        """D + ln(1/pi)/eta_T - Phi_1."""
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
        regret: Floats = self.mixing.regret[STEADY] + self.steady.regret
        return regret

    @property
    def bound(self) -> float:
        """What no regret exceeds."""
        return float(self.mixing.bound[STEADY] + self.steady.bound.max())

    @property
    def holds(self) -> bool:
        """Whether every regret is within its bound, up to rounding."""
        rounding = ROUNDING * (1.0 + self.lost + self.steady.regret.size)
        return all(
            (each.regret <= each.bound + rounding).all() for each in (self.steady, self.mixing)
        )


def practical_certificate(
    learner: PracticalExperts, losses: Floats, predictions: Sequence[Prediction]
) -> PracticalCertificate:
    """The certificate of a run, from the losses of its rounds and what was predicted in them."""
    played = np.array([prediction.work[:STRATEGIES] for prediction in predictions])
    strategies = np.einsum("tmi,ti->m", played, losses)
    mixture = float(
        sum(prediction.q @ row for prediction, row in zip(predictions, losses, strict=True))
    )
    return _closed(learner, predictions[-1], losses.sum(axis=0), strategies, mixture)


def run_certificate(trace: Trace, account: GameSums) -> PracticalCertificate:
    """The same from the trace of a run and the account of its game, which have all sums."""
    return _closed(trace.learner, trace, account.losses, trace.strategies, trace.loss)


def _closed(
    learner: PracticalExperts,
    last: Prediction | Trace,
    arms: Floats,
    strategies: Floats,
    mixture: float,
) -> PracticalCertificate:
    """Both accounts of the last round, closed with what everybody has truly lost."""
    even = np.full(arms.size, -math.log(arms.size))
    steady = _against(last, STEADY, float(strategies[STEADY]), arms, even, learner.first_guess)
    mixing = _against(last, MIXING, mixture, strategies, learner.log_prior, 0.0)
    return PracticalCertificate(steady, mixing, mixture)


def _against(
    last: Prediction | Trace,
    which: int,
    lost: float,
    others: Floats,
    log_prior: Floats,
    start: float,
) -> Against:
    """One account, closed: V and Phi go from where the last round left them to the truth."""
    account, rate = last.dual[which * PLACES :], float(last.eta[which])
    risen = level(others, rate, log_prior) - float(account[LEVEL])
    drift = float(account[DRIFT]) + (lost - float(account[LOST])) - risen
    return Against(regrets(lost, others), drift, -log_prior / rate, start)


def level(values: Floats, rate: float, log_prior: Floats) -> float:
    """Phi = -(1/eta) ln sum_i pi(i) exp(-eta v(i))."""
    least = float(values.min())
    return least - float(np.logaddexp.reduce(log_prior - rate * (values - least))) / rate
