"""Mean losses of the arms, remembered permanently or for a short time, and which memory to use.

Two memories keep the mean loss of each arm: the long one forgets nothing, the short one gives a
loss less and less weight as rounds pass. What both expect of a play is frozen in it. When its loss
comes, the short memory gains by as much as its forecast made the loss more likely. It is used while
its gains exceed DOUBT; gains that fall below zero start again at zero.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.states import ArmFloats

LONG, SHORT, MEMORIES = range(3)
LENGTH = 10.0  # rounds per arm after which a loss weighs 1/e in the short memory
DOUBT = 15.0  # a log-likelihood ratio: odds of e^15 that the short memory foresees better
HEAVIEST = 1e100  # the weight of new losses grows up to this; then all are divided by it
SURE = 1e-3  # a forecast is scored as if it were at least this far from 0 and from 1


class Memories(NamedTuple):
    """Sums of losses and of their weights, by memory and arm, and the gains of the short memory.

    A loss that comes now has the weight `fresh[k]` in memory k: instead of shrinking all sums of
    the short memory in every round, its `fresh` grows. `all_sums` and `all_weights` are over all
    arms. `new_gain` is what was gained since the last round passed.
    """

    sums: ArmFloats
    weights: ArmFloats
    all_sums: Floats
    all_weights: Floats
    fresh: Floats
    gain: Floats
    new_gain: Floats
    used: Counts


def nothing_remembered(arms: int) -> Memories:
    """Make the memories before the first round."""
    return Memories(
        sums=np.zeros((MEMORIES, arms)),
        weights=np.zeros((MEMORIES, arms)),
        all_sums=np.zeros(MEMORIES),
        all_weights=np.zeros(MEMORIES),
        fresh=np.ones(MEMORIES),
        gain=np.zeros(1),
        new_gain=np.zeros(1),
        used=np.zeros(1, dtype=np.int64),
    )


@compiled
def remember(memories: Memories, arm: int, loss: float) -> None:
    """Add a loss that has come to both memories."""
    for k in range(MEMORIES):
        memories.sums[k, arm] += memories.fresh[k] * loss
        memories.weights[k, arm] += memories.fresh[k]
        memories.all_sums[k] += memories.fresh[k] * loss
        memories.all_weights[k] += memories.fresh[k]


@compiled
def score(memories: Memories, loss: float, long: float, short: float, evidence: float) -> None:
    """Let the short memory gain, or lose, by how likely both forecasts made a loss."""
    long, short = min(max(long, SURE), 1.0 - SURE), min(max(short, SURE), 1.0 - SURE)
    ratio = loss * math.log(short / long) + (1.0 - loss) * math.log((1.0 - short) / (1.0 - long))
    memories.new_gain[0] += evidence * ratio


@compiled
def next_round(memories: Memories, may_forget: bool) -> bool:
    """Let a round pass, and choose the memory to use; returns whether it is another than before."""
    before = memories.used[0]
    memories.gain[0] = max(0.0, memories.gain[0] + memories.new_gain[0])
    memories.new_gain[0] = 0.0
    memories.used[0] = SHORT if may_forget and memories.gain[0] > DOUBT else LONG
    memories.fresh[SHORT] *= 1.0 + 1.0 / (LENGTH * memories.sums.shape[1])
    if memories.fresh[SHORT] > HEAVIEST:
        lighten(memories)
    return bool(memories.used[0] != before)


@compiled
def lighten(memories: Memories) -> None:
    """Divide all weights of the short memory by that of a new loss, so that none overflows."""
    heaviest = memories.fresh[SHORT]
    for i in range(memories.sums.shape[1]):
        memories.sums[SHORT, i] /= heaviest
        memories.weights[SHORT, i] /= heaviest
    memories.all_sums[SHORT] /= heaviest
    memories.all_weights[SHORT] /= heaviest
    memories.fresh[SHORT] = 1.0
