"""The parameter of an estimator that keeps only a part of large weights, if the user gives none.

Of eight quantiles of the weights the one is taken whose estimated error is least: the variance of
the estimate, plus the square of a bound on its bias. The bias is the mean of what was left out,
so that mean and its standard error bound it. Nothing is hidden: an estimate says its parameter.
"""

import math

import numpy as np

from belated.arrays import Floats
from belated.evaluation.estimators import KEPT, Chosen, Inputs

QUANTILES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


def tuned_parameter(chosen: Chosen, rows: Inputs, counts: Floats) -> float:
    """Return the parameter of an estimator: the one given, else the best of the grid."""
    if chosen.given is not None or chosen.estimator.parameter is None:
        return chosen.given or math.inf
    used = rows.weights[rows.weights > 0.0]
    if not used.size:
        return math.inf
    limits = np.unique(np.quantile(used, QUANTILES))
    if chosen.name == "dros":
        limits = limits * limits  # lambda is compared with w^2
    return float(min(limits, key=lambda limit: _error(chosen, rows, counts, float(limit))))


def _error(chosen: Chosen, rows: Inputs, counts: Floats, limit: float) -> float:
    """The estimated variance of the estimate, plus the square of a bound on its bias."""
    total = counts.sum()
    terms = chosen.estimator.terms(rows, limit)
    spread = terms.residuals(counts)
    variance = float((counts * spread * spread).sum()) / total / total
    apart = rows.outcome if chosen.name == "clipped-ips" else rows.outcome - rows.model
    left = (rows.weights - KEPT[chosen.name](rows.weights, limit)) * rows.factor * apart
    mean = float((counts * left).sum() / total)
    error = math.sqrt(float((counts * (left - mean) ** 2).sum()) / total / total)
    return float(variance + (abs(mean) + error) ** 2)
