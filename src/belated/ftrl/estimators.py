"""Loss estimates ltil_s(i), computed from an observed loss and the play that it belongs to."""

from collections.abc import Callable

import numpy as np

from belated.arrays import Floats
from belated.ftrl.ledger import Play
from belated.ftrl.rates import exploration

Estimator = Callable[[Play, int, float], float | Floats]


def as_observed(play: Play, arm: int, loss: float) -> float:
    """ltil = l: the loss itself, in the full-information setting."""
    return loss


def importance_weighted(play: Play, arm: int, loss: float) -> float:
    """ltil = l / q_s(i_s), with the probability at the time of the play (section "sec:partcon")."""
    return loss / float(play.q[arm])


def implicit_exploration(spread: int = 1) -> Estimator:
    """ltil = l / (q_s(i_s) + epsilon_s) of th:concealed, with epsilon_s = 1/sqrt(spread s)."""

    def estimate(play: Play, arm: int, loss: float) -> float:
        return loss / (float(play.q[arm]) + exploration(play.round, spread))

    return estimate


def by_policy(estimator: Estimator) -> Estimator:
    """xi_s(n, i) ltil_s(i) for each policy n, with the advice of round s (Theorems 5 and 6)."""

    def estimate(play: Play, arm: int, loss: float) -> Floats:
        assert play.advice is not None
        share: Floats = play.advice[:, arm, np.newaxis] * estimator(play, arm, loss)
        return share

    return estimate
