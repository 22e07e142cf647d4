"""The common shift: by how much the losses of all arms have moved together in recent rounds.

One of the four estimates of a mean loss subtracts this shift (see `mean_loss`). The shift is the
weighted mean of recent losses less that estimate, with one value of zero added. The weight of a
loss falls by the factor 0.95 for every loss that arrived in a later round. The losses of all arms
decide how much weight the estimate with the shift gets.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled

MEMORY = 0.95  # the weight of a loss in the shift is multiplied by this for every later loss
DOUBT = 4.0  # the evidence by which an estimate must be better than a simpler one
NO_WEIGHT = 40.0  # with more evidence against an estimate, its weight is below the last digit


class CommonShift(NamedTuple):
    """The recent residuals of all arms, and the weight of the estimate that uses their mean.

    residual and number are a decaying sum of residuals and a decaying count of them. new_residual
    and new_number are those of the losses that arrived since the last commit. against is the
    evidence against the estimate with the shift, and weight is the weight that follows from it.
    """

    residual: Floats
    number: Floats
    new_residual: Floats
    new_number: Floats
    against: Floats
    weight: Floats


def no_shift(is_used: bool = True) -> CommonShift:
    """Make the record before the first loss; a shift that is not used has weight 0 for ever."""
    against = DOUBT if is_used else np.inf
    return CommonShift(
        residual=np.zeros(1),
        number=np.zeros(1),
        new_residual=np.zeros(1),
        new_number=np.zeros(1),
        against=np.full(1, against),
        weight=np.full(1, 1.0 / (1.0 + np.exp(against))),
    )


@compiled
def shift_now(shift: CommonShift) -> float:
    """Return the shift: the decaying mean of the residuals, with one residual of zero added."""
    return float(shift.residual[0] / (shift.number[0] + 1.0))


@compiled
def settle(shift: CommonShift) -> None:
    """Add the residuals that arrived since the last commit, and compute the weight again.

    The weight is 1/(1 + exp(evidence against the estimate with the shift)).
    """
    if shift.new_number[0] > 0.0:
        fade = MEMORY if shift.new_number[0] == 1.0 else MEMORY ** shift.new_number[0]
        shift.residual[0] = fade * shift.residual[0] + shift.new_residual[0]
        shift.number[0] = fade * shift.number[0] + shift.new_number[0]
        shift.new_residual[0], shift.new_number[0] = 0.0, 0.0
        against = shift.against[0]
        shift.weight[0] = 1.0 / (1.0 + math.exp(against)) if against < NO_WEIGHT else 0.0
