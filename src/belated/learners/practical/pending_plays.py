"""The pending plays of each arm: how many there are, and how old they are."""

from typing import NamedTuple

import numpy as np

from belated.compiled.kernels import compiled
from belated.learners.states import ArmCounts, ArmFloats


class PendingPlays(NamedTuple):
    """By arm, the number of pending plays, and the sums of s^2 and of s over their rounds s.

    The sum of s^2 divided by t^2 is their number in round t, in which old plays hardly count.
    """

    number: ArmCounts
    squares: ArmFloats
    rounds: ArmFloats


def none_pending(arms: int) -> PendingPlays:
    """Make the record before the first play."""
    return PendingPlays(np.zeros(arms, dtype=np.int64), np.zeros(arms), np.zeros(arms))


@compiled
def add_pending(pending: PendingPlays, arm: int, round_: float) -> None:
    """Add a play of this round to the pending plays of an arm."""
    pending.number[arm] += 1
    pending.squares[arm] += round_ * round_
    pending.rounds[arm] += round_


@compiled
def remove_pending(pending: PendingPlays, arm: int, round_: float) -> None:
    """Remove the play of this round from the pending plays of an arm."""
    pending.number[arm] -= 1
    pending.squares[arm] -= round_ * round_
    pending.rounds[arm] -= round_


@compiled
def recent_count(pending: PendingPlays, arm: int, now: float) -> float:
    """Return the number of an arm's pending plays, each counted (s/t)^2 times for t = `now`."""
    return float(pending.squares[arm] / (now * now))


@compiled
def mean_age(pending: PendingPlays, arm: int, now: float) -> float:
    """Return the mean age of an arm's pending plays in round `now`; there must be at least one."""
    return float(now - pending.rounds[arm] / pending.number[arm])
