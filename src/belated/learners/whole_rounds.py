"""Whole rounds, for learners that learn from all losses of a round at once, in the order of play.

The losses of a round are told one by one. They are kept, beside what was frozen when the round was
played, until the last of them is there. A round of which a loss is withdrawn will never be whole.
"""

from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled

ROUND, WEIGHT = 0, 1  # columns of a play: its round, and w_s(i)
LOSS = ROUND  # in what is gathered, row by row, the loss has replaced the round


class RoundCount(NamedTuple):
    """How many there were, and the round of the last one."""

    number: Counts
    latest: Counts


class WholeRounds(NamedTuple):
    """The sum of the losses of all whole rounds, by arm, and the round that is being told.

    gathered has the losses and plays of the round that is being told, and coming counts them. told
    counts the whole rounds. round is the number of the coming round.
    """

    losses: Floats
    gathered: Floats
    coming: RoundCount
    told: RoundCount
    round: Counts


@compiled
def gather(rounds: WholeRounds, play: Floats, arm: int, loss: float) -> bool:
    """Keep a loss and its play; with the last of its round, add up the round and return True."""
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
    """Nothing changes: a round of which a loss is missing is never whole and teaches nothing."""


def no_rounds(arms: int, width: int) -> WholeRounds:
    """The record before the first round, for plays of so many columns."""
    return WholeRounds(
        losses=np.zeros(arms),
        gathered=np.zeros((width, arms)),
        coming=RoundCount(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)),
        told=RoundCount(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)),
        round=np.ones(1, dtype=np.int64),
    )
