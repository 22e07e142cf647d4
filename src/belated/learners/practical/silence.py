"""What silence means: pending plays as observations of fractional weight, by how late reports come.

Where silence has a meaning, such as "no sale" with a loss of 1, a play that has not reported for
long is likely one of those that never do. Every play is looked at when its age doubles, so the
learner knows of each arm how many of its reports come by which age. A pending play counts as much
as the reports that are still to come leave open. The meaning is declared as the default loss; or
else, if at least ONE_SIDED plays have reported and all losses were 0, or all 1, it is the other.
Without a meaning silence says nothing, and pending plays count for nothing.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.following import (
    BINS,
    ENDED,
    LAST,
    LEAST_CHANCE,
    NO_MEANING,
    ONE_SIDED,
    SHARED,
    SILENT,
    age_bin,
    grown_to,
)
from belated.learners.states import ArmFloats, FreshCounts

MOST_FOLLOWED = 2**LAST  # plays are followed until their age is in the last bin, which has no end


class Silence(NamedTuple):
    """The plays that are followed, their reports by age, and what pending plays count as.

    The arm of the play of round s, and the bin in which it was told, are at s modulo the length.
    For each bin and arm, `pending` has the number of silent plays of such an age, `reached` how
    many were silent when they came to the bin and have passed it since. It has in `reports` how
    many of those were told in it. A pending play counts as `weight` observations of `meaning`, and
    all of an arm as `counts`. `told` has the number of losses, their sum, and the least and the
    largest.
    """

    followed_arm: FreshCounts
    followed_bin: FreshCounts
    pending: ArmFloats
    reached: ArmFloats
    reports: ArmFloats
    all_reached: Floats
    all_reports: Floats
    weight: ArmFloats
    counts: ArmFloats
    told: Floats
    default_loss: Floats
    meaning: Floats


NUMBER, LOWEST, HIGHEST = range(3)


def nothing_heard(arms: int, default_loss: float | None) -> Silence:
    """Make the record before the first round."""
    by_bin = (BINS, arms)
    declared = NO_MEANING if default_loss is None else default_loss
    return Silence(
        followed_arm=np.zeros(1, dtype=np.int64),
        followed_bin=np.full(1, ENDED, dtype=np.int64),
        pending=np.zeros(by_bin),
        reached=np.zeros(by_bin),
        reports=np.zeros(by_bin),
        all_reached=np.zeros(BINS),
        all_reports=np.zeros(BINS),
        weight=np.zeros(by_bin),
        counts=np.zeros(arms),
        told=np.array([0.0, 1.0, 0.0]),
        default_loss=np.full(1, declared),
        meaning=np.full(1, declared),
    )


@compiled
def count_pending(silence: Silence, bin_: int, arm: int, number: float) -> None:
    """Count so many more pending plays of an arm in a bin, and what they count as."""
    silence.pending[bin_, arm] += number
    silence.counts[arm] += number * silence.weight[bin_, arm]


@compiled
def count_look(silence: Silence, bin_: int, arm: int, report: float) -> None:
    """Count a play that was silent when it came to a bin, and whether it reported there."""
    silence.reached[bin_, arm] += 1.0 - report if bin_ == LAST else 1.0
    silence.all_reached[bin_] += 1.0 - report if bin_ == LAST else 1.0
    silence.reports[bin_, arm] += report
    silence.all_reports[bin_] += report


@compiled
def follow(silence: Silence, arm: int, round_: int) -> None:
    """Follow the play of a round, and look at all plays that have twice the age of the last look.

    At the start of the next round their ages are 2, 4, 8 and so on. The last bin has no end: plays
    are counted as they come to it, and as they report.
    """
    size = silence.followed_arm.shape[0]
    silence.followed_arm[round_ % size] = arm
    silence.followed_bin[round_ % size] = SILENT
    count_pending(silence, 0, arm, 1.0)
    age, passed = 2, 0
    while age <= round_ and passed < LAST:
        place = (round_ + 1 - age) % size
        other, told = silence.followed_arm[place], silence.followed_bin[place]
        if told == SILENT:
            count_look(silence, passed, other, 0.0)
            count_pending(silence, passed, other, -1.0)
            count_pending(silence, passed + 1, other, 1.0)
            if passed + 1 == LAST:
                count_look(silence, LAST, other, 0.0)
        elif told == passed:
            count_look(silence, passed, other, 1.0)
        age *= 2
        passed += 1


@compiled
def end_silence(silence: Silence, arm: int, played: int, now: int, loss: float) -> None:
    """End the silence of a play with its loss, or with NaN if it was withdrawn."""
    size, told = silence.followed_arm.shape[0], not math.isnan(loss)
    bin_ = age_bin(now - played, LAST)
    count_pending(silence, bin_, arm, -1.0)
    if told:
        silence.told[NUMBER] += 1.0
        silence.told[LOWEST] = min(silence.told[LOWEST], loss)
        silence.told[HIGHEST] = max(silence.told[HIGHEST], loss)
    if bin_ == LAST and told:
        count_look(silence, LAST, arm, 1.0)
    elif now - played <= size:
        silence.followed_bin[played % size] = bin_ if told else ENDED


@compiled
def has_meaning(silence: Silence) -> bool:
    """Whether silence means a loss, so that pending plays count."""
    return bool(silence.meaning[0] != NO_MEANING)


@compiled
def judge_silence(silence: Silence) -> None:
    """Decide what silence means: what was declared, or the opposite of reports that are equal."""
    silence.meaning[0] = silence.default_loss[0]
    if silence.default_loss[0] == NO_MEANING and silence.told[NUMBER] >= ONE_SIDED:
        if silence.told[HIGHEST] == 0.0:
            silence.meaning[0] = 1.0
        elif silence.told[LOWEST] == 1.0:
            silence.meaning[0] = 0.0


@compiled
def hazard(silence: Silence, bin_: int, arm: int) -> float:
    """Return the chance that a play of an arm that is silent when it comes to a bin reports in it.

    The arm's own reports are mixed with those of SHARED plays of all arms.
    """
    shared = 0.0
    if silence.all_reached[bin_] > 0.0:
        shared = silence.all_reports[bin_] / silence.all_reached[bin_]
    return float(
        (silence.reports[bin_, arm] + SHARED * shared) / (silence.reached[bin_, arm] + SHARED)
    )


@compiled
def weigh_silence(silence: Silence, arm: int, mean: float) -> None:
    """Compute what a pending play of an arm with this mean loss counts as, at each age.

    Let G be the chance that a report is still to come at an age, if it comes at all, and c the
    chance that a play is of the kind that never reports. The mean loss if silence means a loss of
    1. Then the plays that count are on average as many as those that would have reported, whatever
    their kind, if a pending play counts as c (1 - G)/(c + (1 - c) G) of a play.
    """
    silent_at_last = 1.0
    for bin_ in range(BINS):
        silent_at_last *= max(0.0, 1.0 - hazard(silence, bin_, arm))
    meaning, kind, silent = silence.meaning[0], 1.0, 1.0
    if meaning == 0.0 or meaning == 1.0:
        kind = mean if meaning == 1.0 else 1.0 - mean
        kind = min(max(kind, LEAST_CHANCE), 1.0 - LEAST_CHANCE)
    silence.counts[arm] = 0.0
    for bin_ in range(BINS):
        passed = silent * max(0.0, 1.0 - hazard(silence, bin_, arm))
        weight = 0.0
        if silent_at_last < 1.0 and has_meaning(silence):
            middle = 0.5 * (silent + passed)
            to_come = (middle - silent_at_last) / (1.0 - silent_at_last)
            weight = kind * (1.0 - to_come) / (kind + (1.0 - kind) * to_come)
        silent = passed
        silence.weight[bin_, arm] = weight
        silence.counts[arm] += silence.pending[bin_, arm] * weight


def with_room(silence: Silence, rounds: int) -> Silence:
    """Make room to follow the plays of all rounds up to this one, or of the last ones if many."""
    before = silence.followed_arm.shape[0]
    more = grown_to(rounds, before, MOST_FOLLOWED) - before
    if more == 0:
        return silence
    return silence._replace(
        followed_arm=np.append(silence.followed_arm, np.zeros(more, dtype=np.int64)),
        followed_bin=np.append(silence.followed_bin, np.full(more, ENDED, dtype=np.int64)),
    )
