"""The argmins once more, in extended precision: what a learner's weights are held against.

Newton's method on all optimality conditions at once, in the logarithms of the weights, from the
weights to be checked. It shares nothing with the compiled solvers, and it is plain: the unknowns
are y = ln q and the multiplier c of sum q = 1.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belated.learners.contract import Learner, Prediction

Long = NDArray[Any]  # of longdouble
Conditions = Callable[[Long, Any], tuple[Long, Long]]  # (y, c) to what y lacks, and its slope in c

MOST_STEPS = 100


def relative_error(learner: Learner, state: Any, prediction: Prediction) -> float:
    """The largest relative error of a weight, over the arms."""
    start = np.log(prediction.q.astype(np.longdouble))
    losses = learner.losses(state).astype(np.longdouble)
    conditions, c = CONDITIONS[learner.name](losses, state, prediction, start)
    y = polished(conditions, start, c)
    return float(np.abs(np.expm1(start - y)).max())


def polished(conditions: Conditions, start: Long, c: Any) -> Long:
    """The y that satisfies the conditions, with sum e^y = 1."""
    y = start
    for _ in range(MOST_STEPS):
        lacking, slope = conditions(y, c)
        q = np.exp(y)
        step = (1.0 - q.sum() - (q * lacking).sum()) / (q * slope).sum()
        change = np.clip(lacking + slope * step, -2.0, 2.0)
        y, c = y + change, c + step
        if np.abs(change).max() <= 1e-17:
            break
    return y


def concealed(losses: Long, state: Any, prediction: Prediction, y: Long) -> tuple[Conditions, Any]:
    """ln(q)/gamma - 1/(2 eta sqrt(q)) = c - L (eq:regunknown1, eq:regunknown2)."""
    losses = losses[:, 0]
    eta, gamma = np.longdouble(prediction.eta[0]), np.longdouble(prediction.gamma[0])

    def conditions(y: Long, c: Any) -> tuple[Long, Long]:
        root = np.exp(-0.5 * y)
        curvature = 1.0 / gamma + root / (4.0 * eta)
        return (c - losses - y / gamma + root / (2.0 * eta)) / curvature, 1.0 / curvature

    best = int(np.argmax(y))
    return conditions, losses[best] + y[best] / gamma - np.exp(-0.5 * y[best]) / (2.0 * eta)


def full_information(
    losses: Long, state: Any, prediction: Prediction, y: Long
) -> tuple[Conditions, Any]:
    """p(i,j) = p_1(i,j) exp(eta_j (c - L(i,j))), summed over the rates (eq:fullinforeg)."""
    rows = Rows(losses, state, prediction.eta)
    nothing = np.zeros_like(y)

    def conditions(y: Long, c: Any) -> tuple[Long, Long]:
        total, rate = rows.at(c + nothing)
        return total - y, rate

    return conditions, rows.level(y, nothing)


def partially_concealed(
    losses: Long, state: Any, prediction: Prediction, y: Long
) -> tuple[Conditions, Any]:
    """p(i,j) = p_1(i,j) exp(gamma_j (c - L(i,j) + 1/(eta q_i))) (eq:banditreg1, eq:banditreg2)."""
    rows = Rows(losses, state, prediction.gamma)
    eta = np.longdouble(prediction.eta[0])

    def conditions(y: Long, c: Any) -> tuple[Long, Long]:
        relief = np.exp(-y) / eta
        total, rate = rows.at(c + relief)
        return (total - y) / (1.0 + rate * relief), rate / (1.0 + rate * relief)

    return conditions, rows.level(y, np.exp(-y) / eta)


class Rows:
    """ln sum_j p_1(i,j) exp(rate_j (x_i - L(i,j))) for each arm."""

    def __init__(self, losses: Long, state: Any, rates: Any) -> None:
        self.losses = losses
        self.rates = np.asarray(rates).astype(np.longdouble)
        self.log_prior = (state.columns.log_prior[:, None] + state.columns.log_weight).astype(
            np.longdouble
        )

    def at(self, x: Long) -> tuple[Long, Long]:
        """The logarithms, and the mean of the rates under the terms of each sum."""
        exponents = self.log_prior + self.rates * (x[:, None] - self.losses)
        largest = exponents.max(axis=1, keepdims=True)
        terms = np.exp(exponents - largest)
        total = terms.sum(axis=1)
        return largest[:, 0] + np.log(total), (terms * self.rates).sum(axis=1) / total

    def level(self, y: Long, relief: Long) -> Any:
        """The c at which the heaviest arm has its weight, by Newton's method."""
        best = int(np.argmax(y))
        c = self.losses[best].mean()
        for _ in range(MOST_STEPS):
            total, rate = self.at(c + relief)
            step = (y[best] - total[best]) / rate[best]
            c += step
            if abs(step) <= 1e-15 * abs(c):
                break
        return c


CONDITIONS: dict[str, Callable[[Long, Any, Prediction, Long], tuple[Conditions, Any]]] = {
    "concealed": concealed,
    "full-information": full_information,
    "partially-concealed": partially_concealed,
}
