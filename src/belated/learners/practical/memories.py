"""Mean losses of the arms, remembered for ever and for shorter times, and which memory to use.

Three memories keep the mean loss of each arm: one forgets nothing, the others give a loss less and
less weight as rounds pass. What each of them expects of a play is frozen in the play. When its loss
comes, a shorter memory gains on the longest by as much as its forecast made the loss more likely,
and it is used once its gains exceed DOUBT; gains that fall below zero start again at zero.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.states import ArmFloats

LENGTHS = (50.0, 10.0)  # rounds per arm after which a loss weighs 1/e in the shorter memories
MEMORIES = 1 + len(LENGTHS)
DOUBT = 12.0  # a log-likelihood ratio: odds of e^12 that the shorter memory is better
HEAVIEST = 1e100  # weights of new losses grow up to this; then all are divided by it
SURE = 1e-3  # a forecast is scored as if it were at least this far from 0 and from 1


class Memories(NamedTuple):
    """Sums of losses and of their weights, by memory and arm, and the gains of shorter memories.

    A loss that comes now has the weight `fresh[k]` in memory k: instead of shrinking all sums in
    every round, `fresh` grows. `all_sums` and `all_weights` are over all arms. `new_gains` has the
    gains since the last round began, and `used` is the memory in use, 0 for the longest.
    """

    sums: ArmFloats
    weights: ArmFloats
    all_sums: Floats
    all_weights: Floats
    fresh: Floats
    gains: Floats
    new_gains: Floats
    used: Counts


def nothing_remembered(arms: int, forgets: bool) -> Memories:
    """Make the memories before the first round; without forgetting there is only the longest."""
    count = MEMORIES if forgets else 1
    return Memories(
        sums=np.zeros((count, arms)),
        weights=np.zeros((count, arms)),
        all_sums=np.zeros(count),
        all_weights=np.zeros(count),
        fresh=np.ones(count),
        gains=np.zeros(count),
        new_gains=np.zeros(count),
        used=np.zeros(1, dtype=np.int64),
    )


@compiled
def remember(memories: Memories, arm: int, loss: float) -> None:
    """Add a loss that has come to all memories."""
    for k in range(memories.fresh.shape[0]):
        memories.sums[k, arm] += memories.fresh[k] * loss
        memories.weights[k, arm] += memories.fresh[k]
        memories.all_sums[k] += memories.fresh[k] * loss
        memories.all_weights[k] += memories.fresh[k]


@compiled
def score(memories: Memories, loss: float, forecasts: Floats, evidence: float) -> None:
    """Let shorter memories gain, or lose, by the log-likelihood of a loss under their forecasts."""
    longest = min(max(forecasts[0], SURE), 1.0 - SURE)
    for k in range(1, memories.fresh.shape[0]):
        shorter = min(max(forecasts[k], SURE), 1.0 - SURE)
        of_loss = loss * math.log(shorter / longest)
        of_rest = (1.0 - loss) * math.log((1.0 - shorter) / (1.0 - longest))
        memories.new_gains[k] += evidence * (of_loss + of_rest)


@compiled
def lighten(memories: Memories, k: int) -> None:
    """Divide all weights of a memory by the weight of a new loss, so that none overflows."""
    heaviest = memories.fresh[k]
    for i in range(memories.sums.shape[1]):
        memories.sums[k, i] /= heaviest
        memories.weights[k, i] /= heaviest
    memories.all_sums[k] /= heaviest
    memories.all_weights[k] /= heaviest
    memories.fresh[k] = 1.0


@compiled
def next_round(memories: Memories, may_forget: bool) -> bool:
    """Let a round pass, and choose the memory to use; returns whether it is another than before."""
    before, most = memories.used[0], DOUBT
    memories.used[0] = 0
    arms = memories.sums.shape[1]
    for k in range(1, memories.fresh.shape[0]):
        memories.gains[k] = max(0.0, memories.gains[k] + memories.new_gains[k])
        memories.new_gains[k] = 0.0
        memories.fresh[k] *= 1.0 + 1.0 / (LENGTHS[k - 1] * arms)
        if memories.fresh[k] > HEAVIEST:
            lighten(memories, k)
        if may_forget and memories.gains[k] > most:
            most, memories.used[0] = memories.gains[k], k
    return bool(memories.used[0] != before)
