"""Terms of the paper's regret analysis, computed for a finished run of `DelayedFTRL`.

These are the look-ahead prediction, the cheating regret, the drift and the bound that follows from
them. They depend on losses that the learner may never have observed, so every function needs the
losses and the missing counts of all rounds and arms.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.ftrl.argmin import argmin
from belated.ftrl.framework import DelayedFTRL
from belated.ftrl.ledger import Play
from belated.ftrl.regularizers import HybridRegularizer


@dataclass(frozen=True)
class Round:
    """One round of a run with the quantities of its analysis; arrays have shape (arm, rate).

    Where policies give advice, the shape is (policy, rate).
    """

    p: Floats  # p_t^av
    regularizer: HybridRegularizer  # R_t
    available: Floats  # Lhat_t^av
    estimate: Floats  # ltil_t
    correction: Floats  # a_t
    total: Floats  # Lhat_t: all lhat_s of the rounds s <= t, arrived or not

    @property
    def charged(self) -> Floats:
        """lhat_t = ltil_t + a_t."""
        return self.estimate + self.correction


@dataclass(frozen=True)
class Decomposition:
    """Both sides of eq:decomp, each a sum over all rounds."""

    regret: float  # <p_t^av - u, ltil_t>
    comparator_corrections: float  # <u, a_t>
    cheating_regret: float  # <p_{t+1} - u, lhat_t>
    drift: float  # <p_t^av - p_{t+1}, lhat_t>
    learner_corrections: float  # <p_t^av, a_t>

    @property
    def total(self) -> float:
        """The right-hand side of eq:decomp, which equals the regret."""
        given = self.comparator_corrections + self.cheating_regret + self.drift
        return given - self.learner_corrections


def analysed(
    ftrl: DelayedFTRL, plays: Sequence[Play], losses: Floats, missing: NDArray[np.int64]
) -> list[Round]:
    """The quantities of every round of a run, from its plays and the losses of all arms.

    `losses` and `missing` have shape (round, arm), with one row for each play.
    """
    rounds = []
    total = np.zeros_like(ftrl.prior_psi)
    for play in plays:
        estimate, correction = np.zeros_like(total), np.zeros_like(total)
        for arm in play.due(losses.shape[1]):
            loss, absent = float(losses[play.round - 1, arm]), int(missing[play.round - 1, arm])
            part, at = ftrl.charge(play, arm, loss, absent), ftrl.charged(arm)
            estimate[at] += part[0]
            correction[at] += part[1]
        total = total + estimate + correction
        rounds.append(Round(play.p, play.regularizer, play.available, estimate, correction, total))
    return rounds


def look_ahead(round_: Round) -> Floats:
    """p_{t+1} of eq:lookahead: argmin of <p, Lhat_t> + R_t(p), with all losses of rounds <= t."""
    return argmin(round_.regularizer, round_.total).p


def drift(round_: Round) -> float:
    """<p_t^av - p_{t+1}, lhat_t>, the term of round t in the drift of eq:driftcheating."""
    return _inner(round_.p - look_ahead(round_), round_.charged)


def drift_bound(round_: Round) -> float:
    """The right-hand side of lem:drift: (Lhat_t - Lhat_t^av)^T (grad^2 R_t(p_t^av))^-1 lhat_t."""
    hessian = round_.regularizer.hessian(round_.p)
    moved = np.linalg.solve(hessian, round_.charged.ravel())
    return float((round_.total - round_.available).ravel() @ moved)


def decompose(rounds: Sequence[Round], u: Floats) -> Decomposition:
    """The sums in eq:driftcheating and eq:decomp, for a comparator u of shape (arm, rate)."""
    ahead = [look_ahead(round_) for round_ in rounds]
    pairs = list(zip(rounds, ahead, strict=True))
    return Decomposition(
        regret=sum(_inner(r.p - u, r.estimate) for r in rounds),
        comparator_corrections=sum(_inner(u, r.correction) for r in rounds),
        cheating_regret=sum(_inner(p - u, r.charged) for r, p in pairs),
        drift=sum(_inner(r.p - p, r.charged) for r, p in pairs),
        learner_corrections=sum(_inner(r.p, r.correction) for r in rounds),
    )


def framework_bound(rounds: Sequence[Round], u: Floats) -> float:
    """The right-hand side of lem:frameworkregret: an upper bound on the regret against u."""
    corrections = sum(_inner(u, r.correction) for r in rounds)
    drifts = sum(drift_bound(r) - _inner(r.p, r.correction) for r in rounds)
    return corrections + rounds[-1].regularizer.value(u) + drifts


def _inner(x: Floats, y: Floats) -> float:
    return float((x * y).sum())
