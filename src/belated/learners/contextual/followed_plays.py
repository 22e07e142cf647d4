"""The plays that are followed as they grow old, and the vectors of those that are still silent.

Of each of the last rounds the arm is kept, and what became of its play: the bin in which it was
told, with its reward, or the slot of a silent play. A slot has the vector x of the play, and as
what the silence of the play counts at present. A play that is silent for longer than plays are
followed goes on counting as it did at its last look.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.following import BINS, ENDED, age_bin, grown_to, places_after
from belated.learners.slots import all_free, give_back, grown, take

MOST_FOLLOWED = 2**BINS
FIRST_SLOT = -3  # the fate of the silent play in slot 0; that in slot k has FIRST_SLOT - k


class FollowedPlays(NamedTuple):
    """The plays of the last rounds, at their round modulo the length, and the slots of silent ones.

    `x`, `weight`, `reward` and `played` belong to slots: the vector of a play, what its silence
    counts as, and its round.
    """

    arm: Counts
    fate: Counts
    told: Floats
    x: Floats
    weight: Floats
    reward: Floats
    played: Counts
    free: Counts


def no_plays(width: int) -> FollowedPlays:
    """Make the record before the first round, without room for any play."""
    return FollowedPlays(
        arm=np.zeros(1, dtype=np.int64),
        fate=np.full(1, ENDED, dtype=np.int64),
        told=np.zeros(1),
        x=np.zeros((0, width)),
        weight=np.zeros(0),
        reward=np.zeros(0),
        played=np.zeros(0, dtype=np.int64),
        free=all_free(0),
    )


def with_room(plays: FollowedPlays, round_: int, more: int) -> FollowedPlays:
    """Make room for so many rounds after this one, or for as many as are followed."""
    length = plays.arm.size
    added = grown_to(round_ + more, length, MOST_FOLLOWED) - length
    if added > 0:
        plays = plays._replace(
            arm=np.append(plays.arm, np.zeros(added, dtype=np.int64)),
            fate=np.append(plays.fate, np.full(added, ENDED, dtype=np.int64)),
            told=np.append(plays.told, np.zeros(added)),
        )
    room = plays.weight.size
    if plays.free[0] < more:
        slots = room + max(more, room)
        plays = plays._replace(
            x=np.vstack([plays.x, np.zeros((slots - room, plays.x.shape[1]))]),
            weight=np.append(plays.weight, np.zeros(slots - room)),
            reward=np.append(plays.reward, np.zeros(slots - room)),
            played=np.append(plays.played, np.zeros(slots - room, dtype=np.int64)),
            free=grown(plays.free, slots),
        )
    return plays


def of_arms_kept(plays: FollowedPlays, kept: Sequence[int]) -> FollowedPlays:
    """Return the plays when only these arms are kept, in other places."""
    stays = np.isin(plays.arm, list(kept))
    return plays._replace(
        arm=places_after(plays.arm, list(kept)), fate=np.where(stays, plays.fate, ENDED)
    )


def check_plays(plays: FollowedPlays, arms: int) -> None:
    """Refuse saved plays of arms, bins or slots that do not exist."""
    room, free = plays.weight.size, int(plays.free[0])
    slots = FIRST_SLOT - plays.fate[plays.fate <= FIRST_SLOT]
    if not ((plays.arm >= 0) & (plays.arm < arms)).all() or (plays.fate >= BINS).any():
        raise ValueError("a play that is followed is of an arm, or was told at an age, unknown")
    if room + 1 != plays.free.size or not 0 <= free <= room:
        raise ValueError(f"there are {free} free slots of {room}")
    if sorted([*plays.free[1 : 1 + free], *slots]) != list(range(room)):
        raise ValueError("the silent plays and the free slots are not all slots, each once")


@compiled
def slot_of(fate: int) -> int:
    """Return the slot of a play that is silent, or a number below zero for all others."""
    return FIRST_SLOT - fate


@compiled
def release(plays: FollowedPlays, slot: int) -> None:
    """Make the slot of a play free again."""
    for i in range(plays.x.shape[1]):
        plays.x[slot, i] = 0.0
    plays.weight[slot], plays.reward[slot], plays.played[slot] = 0.0, 0.0, 0
    give_back(plays.free, slot)


@compiled
def begin(plays: FollowedPlays, arm: int, round_: int, x: Floats) -> None:
    """Follow the play of a round, in the place of the oldest one that was followed."""
    place = round_ % plays.arm.shape[0]
    oldest = slot_of(plays.fate[place])
    if oldest >= 0:
        release(plays, oldest)
    slot = take(plays.free)
    for i in range(x.shape[0]):
        plays.x[slot, i] = x[i]
    plays.played[slot] = round_
    plays.arm[place], plays.fate[place], plays.told[place] = arm, FIRST_SLOT - slot, 0.0


@compiled
def slot_now(plays: FollowedPlays, played: int, now: int) -> int:
    """Return the slot of the play of a round, or -1 if it is not followed any more."""
    if now - played > plays.arm.shape[0]:
        return -1
    return slot_of(plays.fate[played % plays.arm.shape[0]])


@compiled
def end(plays: FollowedPlays, played: int, now: int, reward: float, is_told: bool) -> None:
    """End the silence of a play that is followed, told or withdrawn."""
    place = played % plays.arm.shape[0]
    release(plays, slot_of(plays.fate[place]))
    plays.fate[place] = age_bin(now - played) if is_told else ENDED
    plays.told[place] = reward if is_told else 0.0
