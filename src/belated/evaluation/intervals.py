"""Confidence intervals of an estimate: normal, and empirical Bernstein."""

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.evaluation.estimators import Terms

LEVEL = 0.95


class Interval(NamedTuple):
    """The two ends of a confidence interval."""

    low: float
    high: float


NO_INTERVAL = Interval(math.nan, math.nan)


def normal_interval(terms: Terms, counts: Floats, level: float = LEVEL) -> Interval:
    """Return mean +- z s / sqrt n; for ratios by the delta method, from what each row moves them.

    With a learner as logger the rows are not independent, but what each adds beyond what was to be
    expected is a martingale difference, so the interval stands.
    """
    value, total = float(terms.value(counts)), float(counts.sum())
    if np.count_nonzero(counts) < 2:  # one row says nothing about others
        return NO_INTERVAL
    moved = terms.residuals(counts)
    spread = float((counts * moved * moved).sum()) / max(total - 1.0, 1.0)
    half = NormalDist().inv_cdf(0.5 + level / 2.0) * math.sqrt(spread / total)
    return Interval(value - half, value + half)


def bernstein_half_width(values: Floats, most: float, level: float = LEVEL) -> float:
    """Return half the width of Maurer and Pontil's interval for the mean of values in [0, most].

    Their Theorem 4 has ln(2/delta) for one side; with delta/2 for each side it is ln(4/delta):
    sqrt(2 s^2 ln(4/delta) / n) + 7 b ln(4/delta) / (3 (n - 1)). It is for independent rows.
    """
    count = len(values)
    if count < 2:
        return math.inf
    log = math.log(4.0 / (1.0 - level))
    variance = float(np.var(values, ddof=1))
    return math.sqrt(2.0 * variance * log / count) + 7.0 * most * log / (3.0 * (count - 1))


def bernstein_interval(low: Floats, high: Floats, most: float, level: float = LEVEL) -> Interval:
    """Return Maurer and Pontil's interval around a mean that is between those of two arrays.

    `low` are the rows' values if what was not told is a reward of 0, `high` if it is 1, so that the
    interval holds whatever silence means.
    """
    return Interval(
        max(0.0, float(low.mean()) - bernstein_half_width(low, most, level)),
        min(1.0, float(high.mean()) + bernstein_half_width(high, most, level)),
    )
