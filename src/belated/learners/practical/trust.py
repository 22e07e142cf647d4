"""Trust: whether imputed losses have predicted no worse than the mean over all arms.

Every loss that is told scores two forecasts of its round: the loss that was expected of its arm,
and the mean over all arms. While the squared errors of the first are not much larger than those of
the second, imputing is trusted.
"""

from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled

PER_PENDING = 0.5  # the excess that is tolerated for each recent pending play


class Trust(NamedTuple):
    """The record by which imputing is trusted.

    excess is the sum of (l - expected)^2 - (l - overall mean)^2 over the losses told, and
    pending_squares is the sum of s^2 over the rounds s of all pending plays.
    """

    excess: Floats
    pending_squares: Floats


def full_trust() -> Trust:
    """Make the record before the first loss."""
    return Trust(excess=np.zeros(1), pending_squares=np.zeros(1))


@compiled
def is_trusted(trust: Trust, round_: int, patience: float) -> bool:
    """Whether the excess is at most `patience` plus half of (s/t)^2 for every pending play."""
    now = float(round_)
    recent = trust.pending_squares[0] / (now * now)
    return bool(trust.excess[0] <= patience + PER_PENDING * recent)


@compiled
def score_forecasts(trust: Trust, loss: float, expected: float, overall: float) -> None:
    """Add the excess of squared errors at a loss that was told."""
    error, overall_error = loss - expected, loss - overall
    trust.excess[0] += error * error - overall_error * overall_error
