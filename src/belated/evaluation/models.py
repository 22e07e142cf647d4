"""A model of rewards for each arm, which has not seen the rows that it speaks about.

For each arm it is a ridge regression that is shrunk towards the mean m of all arms. It is f(x) = m
+ x' (lambda I + sum w x x')^-1 sum w (y - m) x, with m = (1/2 + sum w y) / (1 + sum w) and lambda =
1. Rows are in two halves by turns, and each half is spoken about by the model of the other. A model
that has seen a row's own outcome would hide a part of its error from a doubly robust estimate.
"""

import numpy as np

from belated.arrays import Counts, Floats

RIDGE = 1.0


def cross_fitted(x: Floats, chosen: Counts, arms: int, outcome: Floats, weights: Floats) -> Floats:
    """Return the model's reward for each row and arm, in [0, 1], from the other half of the rows.

    Rows without weight were not told.
    """
    values = np.empty((len(x), arms))
    halves = np.arange(len(x)) % 2
    for half in (0, 1):
        learned, asked = halves != half, halves == half
        values[asked] = _fitted(
            x[learned], chosen[learned], arms, outcome[learned], weights[learned], x[asked]
        )
    clipped: Floats = np.clip(values, 0.0, 1.0)
    return clipped


def _fitted(
    x: Floats, chosen: Counts, arms: int, outcome: Floats, weights: Floats, asked: Floats
) -> Floats:
    """Return what the ridge regressions of some rows say about others."""
    mean = (0.5 + weights @ outcome) / (1.0 + weights.sum())
    values = np.full((len(asked), arms), mean)
    for arm in range(arms):
        rows = np.flatnonzero((chosen == arm) & (weights > 0.0))
        if rows.size:
            weighed = x[rows] * weights[rows, None]
            matrix = RIDGE * np.eye(x.shape[1]) + weighed.T @ x[rows]
            values[:, arm] += asked @ np.linalg.solve(matrix, weighed.T @ (outcome[rows] - mean))
    return values
