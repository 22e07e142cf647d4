"""What a run proves about its own regret when it is over, for the learners that have such a proof.

docs/errata.md has that of `full-information`, docs/theory-practical.md that of `practical-experts`.
"""

from belated.analysis.certificates import account_certificate
from belated.analysis.game_sums import GameSums
from belated.analysis.practical_certificate import run_certificate
from belated.learners.paper.full_information import FullInformation
from belated.learners.practical.practical_experts import PracticalExperts
from belated.play.trace import Trace


def certified(trace: Trace, account: GameSums) -> float | None:
    """The bound on the regret against the best arm; None if the run proves none.

    A full-information learner must be told its losses when they arrive, and the game's account
    must not be too large for it.
    """
    learner = trace.learner
    if isinstance(learner, PracticalExperts):
        return run_certificate(trace, account).bound
    if not isinstance(learner, FullInformation) or not learner.told_on_arrival:
        return None
    if account.charged is None:
        return None
    return float(account_certificate(account, learner)[account.best_arm].min())


def broken(trace: Trace, account: GameSums) -> bool:
    """Whether a run contradicts the proof of (2'), which it cannot unless the code is wrong."""
    practical = isinstance(trace.learner, PracticalExperts)
    return practical and not run_certificate(trace, account).holds
