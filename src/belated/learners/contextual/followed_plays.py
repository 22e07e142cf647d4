"""The plays that are followed as they grow old, and the vectors of those that are still silent.

Of each of the last rounds the arm is kept, and what became of its play: the bin in which it was
told, with its reward, or the slot of a silent play. A slot has the vector x of the play, and as
what the silence of the play counts at present. A play that is silent for longer than plays are
followed goes on counting as it did at its last look.

Ages are differences of times: of the time now and the time of the play. Where ages are counted in
rounds, a time is the number of a round. Else it is in seconds, as a caller tells it, and clocks may
be set back: a play that seems to lie in the future is taken for one of now.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.following import BINS, ENDED, age_bin, grown_to, places_after
from belated.learners.slots import all_free, give_back, grown, take

BINS_OF_SECONDS = 22  # the last of them ends at 2^22 seconds, which are 48 days
MOST_FOLLOWED = {BINS: 2**BINS, BINS_OF_SECONDS: 2**20}  # plays, by the number of bins
LOOKS = 16  # in a round at most so many plays are looked at in each bin; the next rounds go on
FIRST_SLOT = -3  # the fate of the silent play in slot 0; that in slot k has FIRST_SLOT - k
Numbers = TypeVar("Numbers", Counts, Floats)


class FollowedPlays(NamedTuple):
    """The plays of the last rounds, at their round modulo the length, and the slots of silent ones.

    `at` has the times of these plays. `due` has, for each bin, the round of the first play that was
    not looked at as one that has passed the bin. `x`, `weight`, `reward` and `played` belong to
    slots: the vector of a play, what its silence counts as, and its round.
    """

    arm: Counts
    fate: Counts
    told: Floats
    at: Floats
    due: Counts
    x: Floats
    weight: Floats
    reward: Floats
    played: Counts
    free: Counts


def no_plays(width: int, bins: int) -> FollowedPlays:
    """Make the record before the first round, without room for any play."""
    return FollowedPlays(
        arm=np.zeros(1, dtype=np.int64),
        fate=np.full(1, ENDED, dtype=np.int64),
        told=np.zeros(1),
        at=np.zeros(1),
        due=np.ones(bins, dtype=np.int64),
        x=np.zeros((0, width)),
        weight=np.zeros(0),
        reward=np.zeros(0),
        played=np.zeros(0, dtype=np.int64),
        free=all_free(0),
    )


def with_room(plays: FollowedPlays, round_: int, more: int) -> FollowedPlays:
    """Make room for so many rounds after this one, or for as many as are followed."""
    before = plays.arm.size
    waiting = round_ + more - (int(plays.due[-1]) - 1)
    length = grown_to(waiting, before, MOST_FOLLOWED[plays.due.size])
    if length > before:
        rounds = np.arange(max(1, round_ - before), round_)
        plays = plays._replace(
            arm=moved(plays.arm, rounds, np.zeros(length, dtype=np.int64)),
            fate=moved(plays.fate, rounds, np.full(length, ENDED, dtype=np.int64)),
            told=moved(plays.told, rounds, np.zeros(length)),
            at=moved(plays.at, rounds, np.zeros(length)),
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


def moved(old: Numbers, rounds: Counts, new: Numbers) -> Numbers:
    """Return the new array with what the old one has of these rounds, at their new places."""
    new[rounds % new.size] = old[rounds % old.size]
    return new


def of_arms_kept(plays: FollowedPlays, kept: Sequence[int]) -> FollowedPlays:
    """Return the plays when only these arms are kept, in other places."""
    stays = np.isin(plays.arm, list(kept))
    return plays._replace(
        arm=places_after(plays.arm, list(kept)), fate=np.where(stays, plays.fate, ENDED)
    )


def check_plays(plays: FollowedPlays, arms: int, round_: int) -> None:
    """Refuse saved plays of arms, bins, times, rounds or slots that do not exist."""
    room, free, bins = plays.weight.size, int(plays.free[0]), plays.due.size
    slots = FIRST_SLOT - plays.fate[plays.fate <= FIRST_SLOT]
    if not ((plays.arm >= 0) & (plays.arm < arms)).all() or (plays.fate >= bins).any():
        raise ValueError("a play that is followed is of an arm, or was told at an age, unknown")
    if len({part.size for part in (plays.arm, plays.fate, plays.told, plays.at)}) > 1:
        raise ValueError("what is kept of the plays that are followed has several lengths")
    if not np.isfinite(plays.at).all() or not ((plays.due >= 1) & (plays.due <= round_)).all():
        raise ValueError("a play that is followed has no time, or is looked at in no round")
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
def begin(plays: FollowedPlays, arm: int, round_: int, time: float, x: Floats) -> None:
    """Follow the play of a round, in the place of the oldest one that was followed."""
    place = round_ % plays.arm.shape[0]
    oldest = slot_of(plays.fate[place])
    if oldest >= 0:
        release(plays, oldest)
    slot = take(plays.free)
    for i in range(x.shape[0]):
        plays.x[slot, i] = x[i]
    plays.played[slot], plays.at[place] = round_, time
    plays.arm[place], plays.fate[place], plays.told[place] = arm, FIRST_SLOT - slot, 0.0


@compiled
def count_nothing_before(plays: FollowedPlays, round_: int) -> None:
    """Let the silence of all plays of earlier rounds count as nothing: they are forgotten."""
    for slot in range(plays.played.shape[0]):
        if plays.played[slot] < round_:
            plays.weight[slot], plays.reward[slot] = 0.0, 0.0


@compiled
def slot_now(plays: FollowedPlays, played: int, now: int) -> int:
    """Return the slot of the play of a round, or -1 if it is not followed any more."""
    if now - played > plays.arm.shape[0]:
        return -1
    return slot_of(plays.fate[played % plays.arm.shape[0]])


@compiled
def age_of(plays: FollowedPlays, played: int, now: int, time: float) -> float:
    """Return the age of the play of a round, or of the oldest one that is followed."""
    size = plays.arm.shape[0]
    return float(time - plays.at[max(played, now - size) % size])


@compiled
def has_passed(plays: FollowedPlays, place: int, time: float, age: float) -> bool:
    """Whether the play at a place has this age or more; one of the future is taken for one of now.

    That is a play whose time was told by a clock that has been set back since.
    """
    plays.at[place] = min(plays.at[place], time)
    return bool(time - plays.at[place] >= age)


@compiled
def end(plays: FollowedPlays, played: int, age: float, reward: float, is_told: bool) -> None:
    """End the silence of a play that is followed, told at this age or withdrawn."""
    place = played % plays.arm.shape[0]
    release(plays, slot_of(plays.fate[place]))
    plays.fate[place] = age_bin(age, plays.due.shape[0] - 1) if is_told else ENDED
    plays.told[place] = reward if is_told else 0.0
