"""The pending plays of each arm: how many there are, and how old they are."""

from typing import NamedTuple

import numpy as np

from belated.compiled.jit import compiled
from belated.learners.states import ArmCounts, ArmFloats


class PendingPlays(NamedTuple):
    """By arm, the number of pending plays, and the sums of s^2 and of s over their rounds s.

    The sum of s^2 over t^2 is their number in round t, where old plays hardly count.
    """

    number: ArmCounts
    squares: ArmFloats
    rounds: ArmFloats


def none_pending(arms: int) -> PendingPlays:
    """The record before the first play."""
    return PendingPlays(np.zeros(arms, dtype=np.int64), np.zeros(arms), np.zeros(arms))


@compiled
def add_pending(pending: PendingPlays, arm: int, round_: float) -> None:
    """A play of this round is pending."""
    pending.number[arm] += 1
    pending.squares[arm] += round_**2
    pending.rounds[arm] += round_


@compiled
def remove_pending(pending: PendingPlays, arm: int, round_: float) -> None:
    """The play of this round is no longer pending."""
    pending.number[arm] -= 1
    pending.squares[arm] -= round_**2
    pending.rounds[arm] -= round_


@compiled
def recent_count(pending: PendingPlays, arm: int, now: float) -> float:
    """The number of pending plays in round `now`, each of them counted (s/t)^2 times."""
    return float(pending.squares[arm] / (now * now))


@compiled
def mean_age(pending: PendingPlays, arm: int, now: float) -> float:
    """The mean age of an arm's pending plays in round `now`; there must be one."""
    return float(now - pending.rounds[arm] / pending.number[arm])
