"""What silence says: pending plays as observations of fractional weight, learned from the delays.

Every play is looked at when its age doubles: it was told in the time since the last look, or it is
still silent. So the learner knows, for each arm and for low and high losses apart, how likely a
report comes at which age. If high losses take longer than low ones, a pending play is evidence of a
high loss, and counts as one with the weight that gives the likelihood of the silence the right
slope; if both take equally long, silence says nothing. With a declared default loss, a play that
never reports has that loss. If at least ONE_SIDED reports came and all are alike, 0 or 1, silence
is taken to mean the other.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.states import ArmFloats, FreshCounts, FreshFloats

BINS = 14  # ages 1, 2 to 3, 4 to 7, ...; the last has no end
LAST = BINS - 1
MOST_FOLLOWED = 2**LAST  # plays that are followed until their age is in the last bin
SHARED = 10.0  # how many plays of all arms the delays of one arm are mixed with
ONE_SIDED = 10.0
LEAST_LOST = 0.02  # the least share of plays that is taken to be lost for good
LEAST_CHANCE = 0.01  # a loss is taken to be 0 or 1 with at least this chance
SILENT, ENDED = -1, -2  # instead of the bin in which a followed play was told


class Silence(NamedTuple):
    """The plays that are followed, the reports by age, and what pending plays count as.

    The arm, bin and loss of the play of round s are at s modulo the length. For each bin and arm,
    `pending` has the number of silent plays of such an age, `reached` how many were silent when
    their age reached the bin and have passed it since, and `reports` how many of those were told in
    it, as a low and as a high loss. A pending play counts as `weight` observations with the sum
    `imputed`; `counts` and `sums` add this up. `meaning` is what silence is taken to mean, or NaN.
    """

    followed_arm: FreshCounts
    followed_bin: FreshCounts
    followed_loss: FreshFloats
    pending: ArmFloats
    reached: ArmFloats
    reports: ArmFloats
    all_reached: Floats
    all_reports: Floats
    weight: ArmFloats
    imputed: ArmFloats
    counts: ArmFloats
    sums: ArmFloats
    default_loss: Floats
    meaning: Floats


def nothing_heard(arms: int, default_loss: float | None) -> Silence:
    """Make the record before the first round."""
    by_bin = (BINS, arms)
    declared = math.nan if default_loss is None else default_loss
    return Silence(
        followed_arm=np.zeros(1, dtype=np.int64),
        followed_bin=np.full(1, ENDED, dtype=np.int64),
        followed_loss=np.zeros(1),
        pending=np.zeros(by_bin),
        reached=np.zeros(by_bin),
        reports=np.zeros((2, *by_bin)),
        all_reached=np.zeros(BINS),
        all_reports=np.zeros((2, BINS)),
        weight=np.zeros(by_bin),
        imputed=np.zeros(by_bin),
        counts=np.zeros(arms),
        sums=np.zeros(arms),
        default_loss=np.full(1, declared),
        meaning=np.full(1, declared),
    )


@compiled
def age_bin(age: int) -> int:
    """Return the bin of an age: floor(log2 age), or the last bin."""
    found = 0
    while age > 1 and found < LAST:
        age >>= 1
        found += 1
    return found


@compiled
def count_pending(silence: Silence, bin_: int, arm: int, number: float) -> None:
    """Count so many more pending plays of an arm in a bin, and what they count as."""
    silence.pending[bin_, arm] += number
    silence.counts[arm] += number * silence.weight[bin_, arm]
    silence.sums[arm] += number * silence.imputed[bin_, arm]


@compiled
def count_passed(silence: Silence, bin_: int, arm: int) -> None:
    """Count a play that was silent when its age reached a bin."""
    silence.reached[bin_, arm] += 1.0
    silence.all_reached[bin_] += 1.0


@compiled
def count_report(silence: Silence, bin_: int, arm: int, loss: float) -> None:
    """Count a report that came in a bin, as a part of a low and a part of a high loss."""
    for high in range(2):
        part = loss if high == 1 else 1.0 - loss
        silence.reports[high, bin_, arm] += part
        silence.all_reports[high, bin_] += part


@compiled
def follow(silence: Silence, arm: int, round_: int) -> None:
    """Follow the play of a round, and look at all plays that have twice the age of the last look.

    At the start of the next round their ages are 2, 4, 8 and so on.
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
            count_passed(silence, passed, other)
            count_pending(silence, passed, other, -1.0)
            count_pending(silence, passed + 1, other, 1.0)
            if passed + 1 == LAST:  # it has no end, so nothing would be counted later
                count_passed(silence, LAST, other)
        elif told == passed:
            count_passed(silence, passed, other)
            count_report(silence, passed, other, silence.followed_loss[place])
        age *= 2
        passed += 1


@compiled
def end_silence(silence: Silence, arm: int, played: int, now: int, loss: float) -> None:
    """End the silence of a play with its loss, or with NaN if it was withdrawn."""
    size, bin_ = silence.followed_arm.shape[0], age_bin(now - played)
    count_pending(silence, bin_, arm, -1.0)
    told = not math.isnan(loss)
    if bin_ == LAST and told:
        count_report(silence, LAST, arm, loss)
    elif now - played <= size:
        silence.followed_bin[played % size] = bin_ if told else ENDED
        silence.followed_loss[played % size] = loss if told else 0.0


@compiled
def hazard(silence: Silence, high: int, bin_: int, arm: int) -> float:
    """Return the chance that a silent play of an arm is told in a bin, as a low or high loss."""
    shared = 0.0
    if silence.all_reached[bin_] > 0.0:
        shared = silence.all_reports[high, bin_] / silence.all_reached[bin_]
    reports = silence.reports[high, bin_, arm] + SHARED * shared
    return float(reports / (silence.reached[bin_, arm] + SHARED))


@compiled
def judge_silence(silence: Silence) -> None:
    """Decide what silence means: what was declared, or the opposite of reports that are alike."""
    low, high = 0.0, 0.0
    for bin_ in range(BINS):
        low += silence.all_reports[0, bin_]
        high += silence.all_reports[1, bin_]
    silence.meaning[0] = silence.default_loss[0]
    if math.isnan(silence.default_loss[0]):
        if low >= ONE_SIDED and high == 0.0:
            silence.meaning[0] = 1.0
        elif high >= ONE_SIDED and low == 0.0:
            silence.meaning[0] = 0.0


@compiled
def weigh_silence(silence: Silence, arm: int, mean: float) -> None:
    """Compute what a pending play of an arm with this mean loss counts as, at each age."""
    silent, low, high = 1.0, 0.0, 0.0  # the chances to be silent still, and to have been told
    for bin_ in range(BINS):
        low += silent * hazard(silence, 0, bin_, arm)
        high += silent * hazard(silence, 1, bin_, arm)
        silent = max(0.0, 1.0 - low - high)
    lost, chance = max(silent, LEAST_LOST), min(max(mean, LEAST_CHANCE), 1.0 - LEAST_CHANCE)
    silence.counts[arm], silence.sums[arm] = 0.0, 0.0
    silent, low_now, high_now = 1.0, 0.0, 0.0
    for bin_ in range(BINS):
        low_told = silent * hazard(silence, 0, bin_, arm)
        high_told = silent * hazard(silence, 1, bin_, arm)
        # The chances that a low and a high loss is silent in the middle of the bin, if it comes.
        low_silent = 1.0 - (low_now + 0.5 * low_told) / low if low > 0.0 else 1.0
        high_silent = 1.0 - (high_now + 0.5 * high_told) / high if high > 0.0 else 1.0
        low_now += low_told
        high_now += high_told
        silent = max(0.0, 1.0 - low_now - high_now)
        set_weight(silence, bin_, arm, chance, lost, max(0.0, low_silent), max(0.0, high_silent))
        pending = silence.pending[bin_, arm]
        silence.counts[arm] += pending * silence.weight[bin_, arm]
        silence.sums[arm] += pending * silence.imputed[bin_, arm]


@compiled
def set_weight(
    silence: Silence, bin_: int, arm: int, mean: float, lost: float, low: float, high: float
) -> None:
    """Set the weight and the loss of a silent play, from how likely low and high losses are silent.

    The likelihood of silence, (1 - m) G_0 + m G_1, has the slope in m of an observation of a high
    loss with weight m (G_1 - G_0) over that likelihood, or of a low one if G_0 is larger. A share
    `lost` of both never comes; if the default is 0 or 1, all losses that do not come are of that
    kind, and if it is another, the play counts as one with that loss once it should have come.
    """
    meaning = silence.meaning[0]
    if math.isnan(meaning):
        low, high = lost + (1.0 - lost) * low, lost + (1.0 - lost) * high
    elif meaning == 1.0:
        high = 1.0
    elif meaning == 0.0:
        low = 1.0
    likelihood = (1.0 - mean) * low + mean * high
    weight, loss = 0.0, 1.0
    if 0.0 < meaning < 1.0:
        weight, loss = 1.0 - likelihood, meaning
    elif high >= low and likelihood > 0.0:
        weight = mean * (high - low) / likelihood
    elif likelihood > 0.0:
        weight, loss = (1.0 - mean) * (low - high) / likelihood, 0.0
    silence.weight[bin_, arm] = weight
    silence.imputed[bin_, arm] = weight * loss


def with_room(silence: Silence, rounds: int) -> Silence:
    """Make room to follow the plays of all rounds up to this one, or of the last ones if many."""
    size = silence.followed_arm.shape[0]
    if size > rounds or size == MOST_FOLLOWED:
        return silence
    while size <= rounds and size < MOST_FOLLOWED:
        size *= 2
    more = size - silence.followed_arm.shape[0]
    return silence._replace(
        followed_arm=np.append(silence.followed_arm, np.zeros(more, dtype=np.int64)),
        followed_bin=np.append(silence.followed_bin, np.full(more, ENDED, dtype=np.int64)),
        followed_loss=np.append(silence.followed_loss, np.zeros(more)),
    )
