"""Certificates: bounds that a finished run proves about its own regret, for learners with a proof.

The proof for `full-information` is in docs/errata.md, and that for `practical-experts` in
docs/theory-practical.md. A certified bandit keeps an account in every run, which stays within its
budget (Theorem 4 of docs/beyond-the-paper.md).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from belated.analysis.game_sums import GameSums
from belated.learners.contract import Certificate, Learner
from belated.play.trace import Trace


def certificate_of(trace: Trace, account: GameSums) -> Certificate | None:
    """Return the certificate that the learner states for its run, or None if it has none."""
    learner = trace.learner
    return learner.certificate(trace, account) if isinstance(learner, Learner) else None


def certified(trace: Trace, account: GameSums) -> float | None:
    """Return the bound that a run proves on its regret against the best arm, or None."""
    found = certificate_of(trace, account)
    return None if found is None else float(found.bounds[account.best_arm])


def broken(trace: Trace, account: GameSums) -> bool:
    """Whether a run contradicts the proof of its learner, which it cannot if the code is right."""
    found = certificate_of(trace, account)
    exceeded = found is not None and not found.holds
    return exceeded or not all(trust.holds for trust in trace.trust_at)


class TrustMeans(NamedTuple):
    """The trust of a certified learner after the last round, as means over runs.

    `share` is that of trusted rounds, `account` the largest C(u) of all arms after the last round,
    and `budget` is b of that round. By Theorem 4, C(u) <= b + 1 in every run, and the expected
    regret of the trusted rounds against arm u is at most the expectation of C(u).
    """

    share: float
    account: float
    budget: float


def trust_means(traces: Sequence[Trace]) -> TrustMeans | None:
    """Return the means over runs of one learner, or None if it is not certified."""
    found = [trace.trust for trace in traces if trace.trust is not None]
    if len(found) < len(traces):
        return None
    rows = [(trust.share, trust.largest, trust.last_budget) for trust in found]
    return TrustMeans(*np.mean(rows, axis=0).tolist())
