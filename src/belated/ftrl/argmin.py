"""eq:frameworkprediction for any regularizer: argmin over the simplex of <p, L> + R(p).

This is a dual method. For a multiplier c let p(c) minimise <p, L - c 1> + R(p) over 0 < p <= 1. The
sum of p(c) grows with c, and p(c) is the argmin at the c where the sum is one
(lem:conjugateproperties3). The cap p <= 1 changes no solution but keeps p(c) defined for every c,
also where grad R cannot reach c - L. The inner problem, p(c), is solved by a projected Newton
method in ln p with a line search; the outer problem, c, by Newton's method inside a bracket. If the
result is not stationary, `argmin` raises an ArithmeticError.
"""

from dataclasses import dataclass

import numpy as np

from belated.arrays import Floats
from belated.ftrl.regularizers import HybridRegularizer

MOST_STEPS = 300
EXACT = 1e-14
SMALLEST_LOG = -200.0  # e^-200 is negligible as a weight, and its square does not underflow
LONGEST_LOG_STEP = 4.0


@dataclass(frozen=True)
class Solution:
    """The argmin p and its multiplier c, with grad R(p) = c 1 - L."""

    p: Floats
    c: float


@dataclass(frozen=True)
class InnerSolution:
    """p(c), excess = sum p(c) - 1, the derivative of the sum in c, and the last step in ln p."""

    p: Floats
    excess: float
    slope: float
    step: float


def argmin(regularizer: HybridRegularizer, losses: Floats) -> Solution:
    """The minimiser of <p, losses> + R(p) over the simplex (eq:frameworkprediction)."""
    least = float(losses.min())
    relative = losses - least
    start = np.full(losses.shape, 1.0 / losses.size)
    c = float(regularizer.gradient(start).mean())
    if not np.isfinite(c):
        raise ArithmeticError("the gradient is not finite: every prior weight must be above 0")
    inner = minimise_at(regularizer, relative, c, start)
    low, high, width = (c, np.inf, 1.0) if inner.excess < 0.0 else (-np.inf, c, 1.0)
    for _ in range(MOST_STEPS):
        if abs(inner.excess) <= EXACT or not low < high:
            break
        total = 1.0 + inner.excess
        newton = np.log(total) * total / inner.slope if inner.slope > 0.0 else inner.excess * np.inf
        before, c = c, c - newton
        if np.isinf(low) or np.isinf(high):  # widen the bracket until it encloses the root
            c = max(c, high - width) if np.isinf(low) else min(c, low + width)
            width *= 4.0
        elif not low < c < high:
            c = 0.5 * (low + high)
        if c == before:
            break
        inner = minimise_at(regularizer, relative, c, inner.p)
        low, high = (c, high) if inner.excess < 0.0 else (low, c)
    if not (abs(inner.excess) <= 1e-9 and inner.step <= 1e-7):
        raise ArithmeticError(
            f"no argmin found: sum p - 1 = {inner.excess:.3g}, last step {inner.step:.3g}"
        )
    return Solution(inner.p / inner.p.sum(), c + least)


def minimise_at(
    regularizer: HybridRegularizer, losses: Floats, c: float, start: Floats
) -> InnerSolution:
    """p(c), computed by a projected Newton method in ln p with e^-200 <= p <= 1."""
    logs = np.clip(np.log(start).ravel(), SMALLEST_LOG, 0.0)
    slope = longest = 0.0
    for _ in range(MOST_STEPS):
        p = np.exp(logs).reshape(losses.shape)
        residual = (regularizer.gradient(p) + losses - c).ravel()
        beyond = ((logs >= 0.0) & (residual < 0.0)) | ((logs <= SMALLEST_LOG) & (residual > 0.0))
        free = ~beyond
        slope = longest = 0.0
        if not free.any():
            break
        matrix = (regularizer.hessian(p) * p.ravel())[np.ix_(free, free)]
        both = np.column_stack([residual[free], np.ones(int(free.sum()))])
        solved = np.linalg.solve(matrix, both)
        step = np.zeros(logs.size)
        step[free] = -solved[:, 0]
        slope = float(p.ravel()[free] @ solved[:, 1])
        longest = float(np.abs(step).max())
        following = line_search(regularizer, losses, c, logs, step)
        moved = float(np.abs(following - logs).max())
        logs = following
        if longest <= EXACT or moved == 0.0:
            break
    p = np.exp(logs).reshape(losses.shape)
    return InnerSolution(p, float(p.sum()) - 1.0, slope, longest)


def line_search(
    regularizer: HybridRegularizer, losses: Floats, c: float, logs: Floats, step: Floats
) -> Floats:
    """ln p after the step, which is halved until the objective decreases unless it is short."""
    whole = np.clip(logs + step, SMALLEST_LOG, 0.0)
    if float(np.abs(step).max()) <= 1e-4:
        return whole
    before = _objective(regularizer, losses, c, logs)
    rounding = 1e-13 * (
        1.0 + abs(before)
    )  # moving tiny weights does not change the objective in double precision
    scale = min(1.0, LONGEST_LOG_STEP / float(np.abs(step).max()))
    for _ in range(60):
        candidate = np.clip(logs + scale * step, SMALLEST_LOG, 0.0)
        if _objective(regularizer, losses, c, candidate) <= before + rounding:
            return candidate
        scale *= 0.5
    return logs


def _objective(regularizer: HybridRegularizer, losses: Floats, c: float, logs: Floats) -> float:
    p = np.exp(logs).reshape(losses.shape)
    return float((p * (losses - c)).sum()) + regularizer.value(p)
