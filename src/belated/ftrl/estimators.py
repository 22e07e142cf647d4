"""Loss estimates ltil_s(i), computed from an observed loss and the play that it belongs to."""

from collections.abc import Callable

from belated.ftrl.ledger import Play
from belated.ftrl.rates import exploration

Estimator = Callable[[Play, int, float], float]


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
