"""What a run proves about its own regret when it is over, for the learners that have such a proof.

docs/errata.md has that of `full-information`, docs/theory-practical.md that of `practical-experts`.
"""

from belated.analysis.game_sums import GameSums
from belated.learners.contract import Certificate, Learner
from belated.play.trace import Trace


def certificate_of(trace: Trace, account: GameSums) -> Certificate | None:
    """The certificate that the learner states for its run; None if the run proves nothing."""
    learner = trace.learner
    return learner.certificate(trace, account) if isinstance(learner, Learner) else None


def certified(trace: Trace, account: GameSums) -> float | None:
    """The bound on the regret against the best arm; None if the run proves none."""
    found = certificate_of(trace, account)
    return None if found is None else float(found.bounds[account.best_arm])


def broken(trace: Trace, account: GameSums) -> bool:
    """Whether a run contradicts the proof of its learner, which it cannot if the code is right."""
    found = certificate_of(trace, account)
    return found is not None and not found.holds
