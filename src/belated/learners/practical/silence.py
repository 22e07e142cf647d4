"""What silence means: pending plays as observations of fractional weight, by how late reports come.

Where silence has a meaning, such as "no sale" with a loss of 1, a play that has not reported for
long is likely one of those that never do. The meaning is declared as the default loss; or else, if
at least ONE_SIDED plays have reported and all losses were 0, or all 1, it is the other. If losses
of that other kind are reported after all, both kinds report, each in its own time: then a silent
play is likely one of the kind that reports later. How late reports come is learned by `delay_law`,
which looks at a play whenever its age has doubled. Without a meaning pending plays count for
nothing.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.delay_law import (
    ONES,
    ZEROS,
    ReportDelays,
    count_look,
    is_counted,
    no_delays,
    renew_law,
    reports,
    said_by_silence,
)
from belated.learners.following import (
    BINS,
    ENDED,
    LAST,
    NO_MEANING,
    ONE_SIDED,
    SILENT,
    age_bin,
    grown_to,
)
from belated.learners.states import ArmFloats, FreshCounts, FreshFloats

BY_OUTCOME = -2.0  # instead of the loss that silence means: both kinds report, each in its time
MOST_FOLLOWED = 2**LAST  # plays are followed until their age is in the last bin, which has no end


class Silence(NamedTuple):
    """The plays that are followed, how late reports come, and what pending plays count as.

    The arm of the play of round s, the bin in which it was told, and its loss are at s modulo the
    length. For each bin and arm, `pending` has the number of silent plays of such an age, and each
    counts as `weight` losses with the sum `loss`. All of an arm count as `counts` losses with the
    sum `losses`.
    """

    followed_arm: FreshCounts
    followed_bin: FreshCounts
    followed_loss: FreshFloats
    pending: ArmFloats
    weight: ArmFloats
    loss: ArmFloats
    counts: ArmFloats
    losses: ArmFloats
    law: ReportDelays
    default_loss: Floats
    meaning: Floats


def nothing_heard(arms: int, default_loss: float | None) -> Silence:
    """Make the record before the first round."""
    declared = NO_MEANING if default_loss is None else default_loss
    pending, weight, loss = np.zeros((3, BINS, arms))
    return Silence(
        followed_arm=np.zeros(1, dtype=np.int64),
        followed_bin=np.full(1, ENDED, dtype=np.int64),
        followed_loss=np.zeros(1),
        pending=pending,
        weight=weight,
        loss=loss,
        counts=np.zeros(arms),
        losses=np.zeros(arms),
        law=no_delays(arms, LAST),
        default_loss=np.full(1, declared),
        meaning=np.full(1, declared),
    )


@compiled
def count_pending(silence: Silence, bin_: int, arm: int, number: float) -> None:
    """Count so many more pending plays of an arm in a bin, and what they count as."""
    silence.pending[bin_, arm] += number
    silence.counts[arm] += number * silence.weight[bin_, arm]
    silence.losses[arm] += number * silence.loss[bin_, arm]


@compiled
def follow(silence: Silence, arm: int, round_: int) -> None:
    """Follow the play of a round, and look at all plays that have passed a bin.

    At the start of the next round their ages are 2, 4, 8 and so on.
    """
    size = silence.followed_arm.shape[0]
    silence.followed_arm[round_ % size] = arm
    silence.followed_bin[round_ % size] = SILENT
    count_pending(silence, 0, arm, 1.0)
    age, passed = 2, 0
    while age <= round_ and passed < LAST:
        place = (round_ + 1 - age) % size
        other, fate = silence.followed_arm[place], silence.followed_bin[place]
        loss = silence.followed_loss[place]
        if is_counted(silence.default_loss[0], fate, 1.0 - loss):
            count_look(silence.law, passed, other, fate, 1.0 - loss)
        if fate == SILENT:
            count_pending(silence, passed, other, -1.0)
            count_pending(silence, passed + 1, other, 1.0)
        age *= 2
        passed += 1


@compiled
def end_silence(silence: Silence, arm: int, played: int, now: int, loss: float) -> None:
    """End the silence of a play with its loss, or with NaN if it was withdrawn."""
    size, told = silence.followed_arm.shape[0], not math.isnan(loss)
    bin_ = age_bin(now - played, LAST)
    count_pending(silence, bin_, arm, -1.0)
    if now - played <= size:
        silence.followed_bin[played % size] = bin_ if told else ENDED
        silence.followed_loss[played % size] = loss if told else 0.0


@compiled
def has_meaning(silence: Silence) -> bool:
    """Whether silence means a loss of its own, declared or guessed."""
    return bool(silence.meaning[0] >= 0.0)


@compiled
def judge_silence(silence: Silence) -> None:
    """Renew the law of delays, and decide what silence means: what was declared, or the guess.

    The guess is the opposite of reports that are all equal. Only plays that have passed the bin in
    which they reported are asked: if the first losses of the other kind come after all, the law
    knows of them before the guess is given up.
    """
    renew_law(silence.law)
    ones, zeros = reports(silence.law, ONES), reports(silence.law, ZEROS)
    meant = silence.meaning[0]
    silence.meaning[0] = silence.default_loss[0]
    if silence.default_loss[0] == NO_MEANING and ones + zeros >= ONE_SIDED:
        if zeros == 0.0:
            silence.meaning[0] = 1.0
        elif ones == 0.0:
            silence.meaning[0] = 0.0
        elif meant != NO_MEANING:
            silence.meaning[0] = BY_OUTCOME


@compiled
def weigh_silence(silence: Silence, arm: int, mean: float) -> None:
    """Compute what a pending play of an arm with this mean loss counts as, at each age.

    It is what its silence after the last bin that it has passed says.
    """
    meaning = silence.meaning[0]
    law_of = NO_MEANING if meaning == BY_OUTCOME else meaning
    silence.counts[arm], silence.losses[arm] = 0.0, 0.0
    for bin_ in range(1, BINS):
        weight, reward = said_by_silence(silence.law, law_of, bin_ - 1, arm, 1.0 - mean)
        if meaning == NO_MEANING:
            weight = 0.0
        silence.weight[bin_, arm], silence.loss[bin_, arm] = weight, weight * (1.0 - reward)
        silence.counts[arm] += silence.pending[bin_, arm] * silence.weight[bin_, arm]
        silence.losses[arm] += silence.pending[bin_, arm] * silence.loss[bin_, arm]


def with_room(silence: Silence, rounds: int) -> Silence:
    """Make room to follow the plays of all rounds up to this one, or of the last ones if many."""
    before = silence.followed_arm.shape[0]
    more = grown_to(rounds, before, MOST_FOLLOWED) - before
    if more == 0:
        return silence
    return silence._replace(
        followed_arm=np.append(silence.followed_arm, np.zeros(more, dtype=np.int64)),
        followed_bin=np.append(silence.followed_bin, np.full(more, ENDED, dtype=np.int64)),
        followed_loss=np.append(silence.followed_loss, np.zeros(more)),
    )
