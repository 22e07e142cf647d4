"""Loss estimates ltil_s(i): what stands in for a loss, given the play it belongs to."""

from collections.abc import Callable

from belated.ftrl.ledger import Play
from belated.ftrl.rates import exploration

Estimator = Callable[[Play, int, float], float]


def as_observed(play: Play, arm: int, loss: float) -> float:
    """ltil = l in the full-information setting."""
    return loss


def importance_weighted(play: Play, arm: int, loss: float) -> float:
    """ltil = l / q_s(i_s), with the probability of the round played (section "sec:partcon")."""
    return loss / float(play.q[arm])


def implicit_exploration(spread: int = 1) -> Estimator:
    """ltil = l / (q_s(i_s) + epsilon_s) of th:concealed."""

    def estimate(play: Play, arm: int, loss: float) -> float:
        return loss / (float(play.q[arm]) + exploration(play.round, spread))

    return estimate
