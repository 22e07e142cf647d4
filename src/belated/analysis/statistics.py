"""Means with their confidence intervals, over the repetitions of a comparison."""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats

Z = 1.959963984540054  # the 97.5 % quantile of the normal distribution


class MeanEstimate(NamedTuple):
    """A mean, its standard error, and half the width of its 95 % confidence interval."""

    mean: Floats
    error: Floats
    half_width: Floats


def estimate(values: Floats) -> MeanEstimate:
    """Estimate the mean over the first axis; with only one value the error is unknown (NaN)."""
    count = len(values)
    mean = values.mean(axis=0)
    if count < 2:
        unknown = np.full_like(mean, np.nan)
        return MeanEstimate(mean, unknown, unknown)
    error = values.std(axis=0, ddof=1) / math.sqrt(count)
    error = np.where(np.ptp(values, axis=0) == 0.0, 0.0, error)  # 0, not a rounding error
    return MeanEstimate(mean, error, student_quantile(count - 1) * error)


def student_quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's distribution, to within two per mille.

    It uses closed forms for one and two degrees of freedom, else the Cornish-Fisher expansion.
    """
    if freedom == 1:
        return math.tan(math.pi * 0.475)
    if freedom == 2:
        return 0.95 * math.sqrt(2.0 / (1.0 - 0.95**2))
    terms = (
        (Z**3 + Z) / 4.0,
        (5.0 * Z**5 + 16.0 * Z**3 + 3.0 * Z) / 96.0,
        (3.0 * Z**7 + 19.0 * Z**5 + 17.0 * Z**3 - 15.0 * Z) / 384.0,
        (79.0 * Z**9 + 776.0 * Z**7 + 1482.0 * Z**5 - 1920.0 * Z**3 - 945.0 * Z) / 92160.0,
    )
    return Z + sum(term / float(freedom) ** (k + 1) for k, term in enumerate(terms))
