"""Whole rounds, for learners that learn from all losses of a round at once, in the order of play.

The losses of a round arrive one by one. They are stored, together with what was frozen when the
round was played, until the last of them has arrived and the round is whole. A round of which a loss
is withdrawn never becomes whole.
"""

from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled

ROUND, WEIGHT = 0, 1  # columns of a play: its round, and w_s(i)
LOSS = ROUND  # in `gathered` the row of the round holds the loss instead


class RoundCount(NamedTuple):
    """The number of items counted (losses or rounds), and the round of the latest one."""

    number: Counts
    latest: Counts


class WholeRounds(NamedTuple):
    """The sum of the losses of all whole rounds, by arm, and the round whose losses are arriving.

    gathered has the losses and the frozen plays of the round whose losses are arriving, and coming
    counts them. told counts the whole rounds. round is the number of the next round to be played.
    """

    losses: Floats
    gathered: Floats
    coming: RoundCount
    told: RoundCount
    round: Counts


@compiled
def gather(rounds: WholeRounds, play: Floats, arm: int, loss: float) -> bool:
    """Store a loss and its play.

    If it is the last loss of its round, add the losses of the round to the sums and return True.
    """
    coming = rounds.coming
    if coming.latest[0] != play[ROUND]:
        coming.latest[0] = int(play[ROUND])
        coming.number[0] = 0
    for part in range(rounds.gathered.shape[0]):
        rounds.gathered[part, arm] = play[part]
    rounds.gathered[LOSS, arm] = loss
    coming.number[0] += 1
    if coming.number[0] < rounds.losses.shape[0]:
        return False
    for i in range(rounds.losses.shape[0]):
        rounds.losses[i] += rounds.gathered[LOSS, i]
    rounds.told.number[0] += 1
    rounds.told.latest[0] = coming.latest[0]
    return True


@compiled
def withdraw(state: Any, play: Floats, arm: int) -> None:
    """Do nothing: a round that lacks a loss never becomes whole, so nothing is learned from it."""


def no_rounds(arms: int, width: int) -> WholeRounds:
    """Return the record before the first round, for plays that freeze `width` numbers per arm."""
    return WholeRounds(
        losses=np.zeros(arms),
        gathered=np.zeros((width, arms)),
        coming=RoundCount(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)),
        told=RoundCount(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)),
        round=np.ones(1, dtype=np.int64),
    )
