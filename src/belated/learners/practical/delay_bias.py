"""The delay bias: by how much losses that take long are worse than others, or better.

Delay and loss may be related: a sale is known when it happens, and that there was none only when
the wait is over. Then the losses that have arrived are a biased sample, and that a play is still
pending says something about its loss. So the residual of every loss, which is the loss less what
was expected of its arm when it arrived, is recorded by how long the loss took, in powers of four,
for its arm and for all arms. Let A(k) be the sum of the residuals of all losses that took 4^k
rounds or more and n(k) their number, and A_i(k) and n_i(k) the same for arm i. The bias of plays
that have been pending for that long is

    S(k)   = A(k)/(n(k) + 10) - A(0)/(n(0) + 10)                        for all arms,
    S_i(k) = (A_i(k) + 10 S(k))/(n_i(k) + 10) - A_i(0)/(n_i(0) + 10)    for arm i,

which is added to the loss that is imputed for a pending play of arm i. It is the mean residual of
the losses that took as long, less that of all losses. Each mean includes ten supposed losses: those
among all losses have residual 0, those among the losses of arm i that took as long have S(k).

A loss that its delay explains is no sign of a common shift of all arms, so the explained part is
subtracted before the loss is counted in `common_shift`.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.states import ArmFloats

POWERS = 16  # the number of powers of four; the last one has all delays of 4^15 rounds or more
UNRELATED = 10.0  # the number of supposed losses in each mean


class DelayBias(NamedTuple):
    """Residuals and numbers of losses by their delay, and the bias that follows, by power of four.

    residuals and counts are over all losses that took so long or longer, arm_residuals and
    arm_counts over those of each arm. of_pending is S, and of_delay is the mean residual that a
    delay of just this length explains; both were computed at the last refresh.
    """

    residuals: Floats
    counts: Floats
    of_pending: Floats
    of_delay: Floats
    arm_residuals: ArmFloats
    arm_counts: ArmFloats


def no_bias(arms: int) -> DelayBias:
    """Make the record before the first loss."""
    return DelayBias(
        residuals=np.zeros(POWERS),
        counts=np.zeros(POWERS),
        of_pending=np.zeros(POWERS),
        of_delay=np.zeros(POWERS),
        arm_residuals=np.zeros((POWERS, arms)),
        arm_counts=np.zeros((POWERS, arms)),
    )


@compiled
def power_of(rounds: float) -> int:
    """Return the largest k for which 4^k is at most `rounds` (at least 1), or the last power."""
    return min((math.frexp(rounds)[1] - 1) // 2, POWERS - 1)


@compiled
def record(bias: DelayBias, arm: int, power: int, residual: float) -> None:
    """Add the residual of a loss whose delay, both rounds included, has this power of four."""
    for shorter in range(power + 1):
        bias.residuals[shorter] += residual
        bias.counts[shorter] += 1.0
        bias.arm_residuals[shorter, arm] += residual
        bias.arm_counts[shorter, arm] += 1.0


@compiled
def refresh(bias: DelayBias) -> None:
    """Compute the bias of pending plays and what a delay explains, for every power of four."""
    of_any = bias.residuals[0] / (bias.counts[0] + UNRELATED)
    residuals_longer, count_longer = 0.0, 0.0
    for power in range(POWERS - 1, -1, -1):
        residuals, count = bias.residuals[power], bias.counts[power]
        bias.of_pending[power] = residuals / (count + UNRELATED) - of_any
        own, own_count = residuals - residuals_longer, count - count_longer
        bias.of_delay[power] = (own - of_any * own_count) / (own_count + UNRELATED)
        residuals_longer, count_longer = residuals, count


@compiled
def bias_of(bias: DelayBias, arm: int, power: int) -> float:
    """Return S_i(k), by how much the loss of a play that is pending so long exceeds others."""
    longer = bias.arm_residuals[power, arm] + UNRELATED * bias.of_pending[power]
    of_any = bias.arm_residuals[0, arm] / (bias.arm_counts[0, arm] + UNRELATED)
    return float(longer / (bias.arm_counts[power, arm] + UNRELATED) - of_any)
