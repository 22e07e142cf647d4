"""Certificates: bounds that a finished run proves about its own regret, for learners with a proof.

The proof for `full-information` is in docs/errata.md, and that for `practical-experts` in
docs/theory-practical.md.
"""

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
    return found is not None and not found.holds
