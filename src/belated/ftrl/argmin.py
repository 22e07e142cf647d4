"""eq:frameworkprediction for any regularizer: argmin over the simplex of <p, L> + R(p).

A dual method. For a multiplier c let p(c) minimise <p, L - c 1> + R(p) over 0 < p <= 1; the sum of
p(c) grows with c, and the c at which it is one gives the argmin (lem:conjugateproperties3). The cap
p <= 1 changes no solution but keeps p(c) defined for every c, also where grad R cannot reach
c - L. Inner problem: projected Newton in the logarithms of p, with a line search. Outer problem:
Newton inside a bracket.
"""

from dataclasses import dataclass

import numpy as np

from belated.ftrl.regularizers import Floats, Hybrid

MOST_STEPS = 200
EXACT = 1e-14
LONGEST_LOG_STEP = 2.0


@dataclass(frozen=True)
class Solution:
    """The argmin p, and the multiplier c with grad R(p) = c 1 - L."""

    p: Floats
    c: float


def argmin(regularizer: Hybrid, losses: Floats) -> Solution:
    """The minimiser of <p, losses> + R(p) over the simplex."""
    p = np.full(losses.shape, 1.0 / losses.size)
    c = float((losses + regularizer.gradient(p)).mean())
    if not np.isfinite(c):
        raise ArithmeticError("the gradient is not finite: every weight of a prior must be above 0")
    p, excess, slope = minimise_at(regularizer, losses, c, p)
    low, high, width = (c, np.inf, 1.0) if excess < 0.0 else (-np.inf, c, 1.0)
    for _ in range(MOST_STEPS):
        if abs(excess) <= EXACT or not low < high:
            break
        c -= excess / slope if slope > 0.0 else np.sign(excess) * np.inf
        if np.isinf(low) or np.isinf(high):  # widen until the root is enclosed
            c = max(c, high - width) if np.isinf(low) else min(c, low + width)
            width *= 2.0
        elif not low < c < high:
            c = 0.5 * (low + high)
        p, excess, slope = minimise_at(regularizer, losses, c, p)
        low, high = (c, high) if excess < 0.0 else (low, c)
    if abs(excess) > 1e-9:
        raise ArithmeticError(f"no multiplier found: sum p - 1 = {excess:.3g} at c = {c!r}")
    return Solution(p / p.sum(), c)


def minimise_at(
    regularizer: Hybrid, losses: Floats, c: float, start: Floats
) -> tuple[Floats, float, float]:
    """p(c), sum p(c) - 1 and its derivative in c."""
    logs = np.log(start).ravel()
    free = np.ones(logs.size, dtype=bool)
    matrix = np.eye(logs.size)
    for _ in range(MOST_STEPS):
        p = np.exp(logs).reshape(losses.shape)
        residual = (regularizer.gradient(p) + losses - c).ravel()
        free = ~((logs >= 0.0) & (residual < 0.0))  # the rest wants to pass p = 1
        if not free.any():
            break
        matrix = (regularizer.hessian(p) * p.ravel())[np.ix_(free, free)]
        step = np.zeros(logs.size)
        step[free] = -np.linalg.solve(matrix, residual[free])
        longest = float(np.abs(step).max())
        following = line_search(regularizer, losses, c, logs, step, longest)
        moved = float(np.abs(following - logs).max())
        logs = following
        if longest <= EXACT or moved == 0.0:
            break
    p = np.exp(logs).reshape(losses.shape)
    slope = 0.0
    if free.any():
        slope = float(p.ravel()[free] @ np.linalg.solve(matrix, np.ones(int(free.sum()))))
    return p, float(p.sum()) - 1.0, slope


def line_search(
    regularizer: Hybrid, losses: Floats, c: float, logs: Floats, step: Floats, longest: float
) -> Floats:
    """The longest tried part of the step that lowers the inner objective; near the root, all."""
    if longest <= 1e-4:
        return np.minimum(logs + step, 0.0)
    scale = min(1.0, LONGEST_LOG_STEP / longest)
    before = _objective(regularizer, losses, c, logs)
    for _ in range(60):
        candidate = np.minimum(logs + scale * step, 0.0)
        if _objective(regularizer, losses, c, candidate) < before:
            return candidate
        scale *= 0.5
    return logs


def _objective(regularizer: Hybrid, losses: Floats, c: float, logs: Floats) -> float:
    p = np.exp(logs).reshape(losses.shape)
    return float((p * (losses - c)).sum()) + regularizer.value(p)
