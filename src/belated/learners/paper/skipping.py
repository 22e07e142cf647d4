"""Skipping (Theorem 9 of docs/beyond-the-paper.md): the concealed bandit stops waiting for a play.

A play that is outstanding costs the learner something each time its arm is played again. Once it
has cost more than sqrt(Z_t / ln K), where Z_t is what all plays have cost so far, it is skipped. It
is waited for no longer, and its loss is ignored if it comes.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled, compiled_apart
from belated.learners.slots import all_free, give_back, grown, take
from belated.learners.states import ArmCounts
from belated.numerics.exact_sums import add_exactly

NONE = -1  # no slot


class SkippablePlays(NamedTuple):
    """The outstanding plays, each in a slot; those of an arm that are not skipped form a list.

    For each slot: the play's round and weight, how often its arm had been played with it, the slots
    of the neighbours in the list (older and newer), and whether it was skipped. For each arm: the
    slot of its newest play in the list, and how often it was played. `free` is the number of free
    slots, followed by these slots. `skipped` counts the plays skipped so far. Without skipping
    there are no slots.
    """

    round: Counts
    weight: Floats
    number: Counts
    older: Counts
    newer: Counts
    is_skipped: Counts
    newest: ArmCounts
    played: ArmCounts
    free: Counts
    skipped: Counts


def no_plays(arms: int, room: int) -> SkippablePlays:
    """Make the record before the first play, with room for so many outstanding plays."""
    return SkippablePlays(
        round=np.zeros(room, dtype=np.int64),
        weight=np.zeros(room),
        number=np.zeros(room, dtype=np.int64),
        older=np.zeros(room, dtype=np.int64),
        newer=np.zeros(room, dtype=np.int64),
        is_skipped=np.zeros(room, dtype=np.int64),
        newest=np.full(arms, NONE, dtype=np.int64),
        played=np.zeros(arms, dtype=np.int64),
        free=all_free(room),
        skipped=np.zeros(1, dtype=np.int64),
    )


def with_free_slots(plays: SkippablePlays, least: int) -> SkippablePlays:
    """Return a record of the same plays with at least so many free slots."""
    room = plays.weight.size
    larger = no_plays(plays.newest.size, 2 * room + least)
    for name in ("round", "weight", "number", "older", "newer", "is_skipped"):
        getattr(larger, name)[:room] = getattr(plays, name)
    free = grown(plays.free, larger.weight.size)
    kept = larger._replace(newest=plays.newest, played=plays.played, skipped=plays.skipped)
    return kept._replace(free=free)


def check_slots(plays: SkippablePlays, taken: Sequence[float]) -> None:
    """Make sure that every slot that is named is there, and free or taken by one play."""
    room, free = plays.weight.size, int(plays.free[0])
    if not 0 <= free <= room or room + 1 != plays.free.size:
        raise ValueError(f"there are {free} free slots of {room}")
    if sorted([*plays.free[1 : 1 + free], *taken]) != list(range(room)):
        raise ValueError("the plays and the free slots are not all slots, each once")
    for links in (plays.older, plays.newer, plays.newest):
        if links.size and not (links.min() >= NONE and links.max() < room):
            raise ValueError(f"a list of plays leads to a slot beyond {room}")


def skipped_rounds(plays: SkippablePlays) -> set[int]:
    """Return the rounds of the skipped plays whose slots no later play has taken yet."""
    return set(plays.round[plays.is_skipped == 1].tolist())


@compiled
def skips(plays: SkippablePlays) -> bool:
    """Return whether plays are skipped at all."""
    return bool(plays.weight.shape[0] > 0)


@compiled
def limit_of(total: float, arms: int) -> float:
    """Return sqrt(Z_t / ln K), the cost above which a play is skipped."""
    return math.sqrt(total / math.log(arms)) if arms > 1 else math.inf


@compiled_apart
def waiting_after_skips(plays: SkippablePlays, waiting: Floats, arm: int, total: float) -> float:
    """Return what the outstanding plays of an arm weigh without those that are to be skipped."""
    limit, left = limit_of(total, plays.newest.shape[0]), np.empty((2, 1))
    left[0, 0], left[1, 0] = waiting[0, arm], waiting[1, arm]
    slot, stays = plays.newest[arm], False
    while slot != NONE:
        if plays.weight[slot] * (plays.played[arm] - plays.number[slot]) > limit:
            add_exactly(left, 0, -plays.weight[slot])
        else:
            stays = True
        slot = plays.older[slot]
    return float(left[0, 0] + left[1, 0]) if stays else 0.0


@compiled_apart
def skip_costly_plays(plays: SkippablePlays, waiting: Floats, arm: int, total: float) -> None:
    """Skip the plays of an arm that have cost too much."""
    limit, slot = limit_of(total, plays.newest.shape[0]), plays.newest[arm]
    while slot != NONE:
        older = plays.older[slot]
        if plays.weight[slot] * (plays.played[arm] - plays.number[slot]) > limit:
            take_out(plays, waiting, arm, slot)
            plays.is_skipped[slot] = 1
            plays.skipped[0] += 1
        slot = older


@compiled_apart
def put_in(plays: SkippablePlays, arm: int, round_: int, weight: float) -> int:
    """Give a play of an arm a slot, which is returned, and put it at the end of the arm's list."""
    slot = take(plays.free)
    plays.played[arm] += 1
    plays.round[slot], plays.weight[slot] = round_, weight
    plays.number[slot] = plays.played[arm]
    plays.is_skipped[slot] = 0
    plays.older[slot], plays.newer[slot] = plays.newest[arm], NONE
    if plays.newest[arm] != NONE:
        plays.newer[plays.newest[arm]] = slot
    plays.newest[arm] = slot
    return slot


@compiled_apart
def take_out(plays: SkippablePlays, waiting: Floats, arm: int, slot: int) -> None:
    """Take a play out of the list of its arm, and its weight out of what the arm's plays weigh."""
    older, newer = plays.older[slot], plays.newer[slot]
    if older != NONE:
        plays.newer[older] = newer
    if newer != NONE:
        plays.older[newer] = older
    else:
        plays.newest[arm] = older
    add_exactly(waiting, arm, -plays.weight[slot])
    if plays.newest[arm] == NONE:
        waiting[:, arm] = 0.0


@compiled_apart
def end_play(plays: SkippablePlays, waiting: Floats, arm: int, slot: int) -> bool:
    """Free the slot of a play that is outstanding no longer; returns whether it counts."""
    counts = plays.is_skipped[slot] == 0
    if counts:
        take_out(plays, waiting, arm, slot)
    give_back(plays.free, slot)
    return bool(counts)
