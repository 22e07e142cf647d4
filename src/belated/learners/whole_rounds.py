"""Whole rounds: for learners that learn from all losses of a round at once, in the order of play.

The losses of a round are told one by one; they are kept, beside what was in force when the round
was played, until the last of them is there. A round that is passed over will never be told.
"""

from typing import Protocol

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled

ROUND, WEIGHT = 0, 1  # columns of a play: its round, and w_s(i)
LOSS = ROUND  # in what is gathered, row by row, the loss has replaced the round
COUNT, LATEST = 0, 1  # of the rounds told: how many, and which was the last


class Gathers(Protocol):
    """The part of a state that gathers: what is coming in, what was told, and its sum by arm."""

    @property
    def losses(self) -> Floats: ...

    @property
    def gathered(self) -> Floats: ...

    @property
    def coming(self) -> Counts: ...

    @property
    def told(self) -> Counts: ...


@compiled
def gather(state: Gathers, play: Floats, arm: int, loss: float) -> bool:
    """Keep a loss and its play; when it is the last of its round, add up the round and say so."""
    if state.coming[LATEST] != play[ROUND]:
        state.coming[LATEST] = int(play[ROUND])
        state.coming[COUNT] = 0
    for part in range(state.gathered.shape[0]):
        state.gathered[part, arm] = play[part]
    state.gathered[LOSS, arm] = loss
    state.coming[COUNT] += 1
    if state.coming[COUNT] < state.losses.shape[0]:
        return False
    for i in range(state.losses.shape[0]):
        state.losses[i] += state.gathered[LOSS, i]
    state.told[COUNT] += 1
    state.told[LATEST] = state.coming[LATEST]
    return True


@compiled
def withdraw(state: Gathers, play: Floats, arm: int) -> None:
    """A round of which a loss is missing is never whole, and nothing is learned from it."""


def nothing_gathered(arms: int, width: int) -> dict[str, Floats | Counts]:
    """These parts of a state before the first round, for plays of so many columns."""
    return {
        "losses": np.zeros(arms),
        "gathered": np.zeros((width, arms)),
        "coming": np.zeros(2, dtype=np.int64),
        "told": np.zeros(2, dtype=np.int64),
        "round": np.ones(1, dtype=np.int64),
    }
