"""What silence means, and the correction that follows from it.

A row that has not been told says nothing by itself. Which correction is right depends on why it
is silent, and no log can tell: it must be declared. Each meaning turns a row into a factor on its
weight and an outcome in the place of its reward:

| declared | factor | outcome | right if |
|---|---|---|---|
| `missing` | told / G(age) | reward | late or lost, whatever the outcome is |
| `default` | 1 | default + told (reward - default) / F(age) | only the default never comes |
| `speeds` | told / F(age, outcome) | reward | all comes, at a speed that depends on the outcome |

G is 1 - Kaplan-Meier, F the right-truncated product limit (`delay_laws`), each by arm and
stratum; F of `default` is that of the outcomes that are not the default.

Rows that are too young for this are left out, whatever their arm: of some arm less than a tenth of
what comes has come at their age. No factor could speak for rows that are younger than the shortest
delay, and those that are hardly older would have factors so large that a few carry everything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from belated.arrays import Counts, Floats
from belated.evaluation.delay_laws import KaplanMeier, LawAtAges, RightTruncated, median_delay
from belated.evaluation.logs.journal import Journal
from belated.specs import listed
from belated.table_files import Mask

Meaning = Literal["missing", "default", "speeds"]
MEANINGS: tuple[Meaning, ...] = get_args(Meaning)
FLOOR = 0.02  # a chance to be told is never taken to be below this
LEAST_COME = 0.1  # of what comes of each arm must have come at the age of a row that counts
YOUNG = 3.0  # a log must be so many times as long as the median delay of each arm


class Corrected(NamedTuple):
    """A factor on the weight of each row and its outcome; `floored` is the share at the floor."""

    factor: Floats
    outcome: Floats
    floored: float = 0.0


class _Law(NamedTuple):
    """The law of delays of some rows, and the rows whose ages it is asked at."""

    source: Counts
    asked: Counts
    law: LawAtAges


@dataclass(frozen=True)
class SilenceCorrection:
    """The correction for a declared meaning of silence, which can be fitted to weighted rows."""

    meaning: Meaning
    rewards: Floats
    default: float
    laws: tuple[_Law, ...]
    is_old: Mask  # which rows are old enough to count

    def corrected(self, weights: Floats) -> Corrected:
        """Fit the laws of delays to weighted rows and return what they make of each row."""
        chances = np.ones(weights.shape)
        asked = 0
        floored = 0
        for source, rows, law in self.laws:
            found = law.chances(weights[..., source])
            chances[..., rows] = np.maximum(found, FLOOR)
            floored += int((found < FLOOR).sum())
            asked += found.size
        told = ~np.isnan(self.rewards)
        share = floored / asked if asked else 0.0
        rewards = np.where(told, self.rewards, 0.0)
        if self.meaning == "default":
            gain = np.where(told, rewards - self.default, 0.0) / chances
            return Corrected(np.ones(weights.shape), self.default + gain, share)
        return Corrected(np.where(told, 1.0, 0.0) / chances, rewards, share)


def groups_of(journal: Journal, strata: Sequence[str] | None) -> list[Counts]:
    """Return the rows of each arm, or of each arm and stratum."""
    keys = journal.chosen
    if strata is not None:
        _, codes = np.unique(np.asarray(strata), return_inverse=True)
        keys = journal.chosen * (codes.max() + 1) + codes
    return [np.flatnonzero(keys == key) for key in np.unique(keys)]


def silence_correction(
    journal: Journal, meaning: Meaning, default: float, strata: Sequence[str] | None = None
) -> SilenceCorrection:
    """Prepare the correction for a meaning of silence; `default` is a reward in [0, 1]."""
    if meaning not in MEANINGS:
        raise ValueError(f"silence is {meaning!r}; it must be one of {listed(MEANINGS, meaning)}")
    if meaning == "speeds" and not journal.timed:
        raise ValueError(
            "silence is 'speeds', and the log does not say when outcomes came; "
            "it must have arrival, delay or told_at"
        )
    told, laws = journal.told, []
    for rows in groups_of(journal, strata):
        if meaning == "missing":
            laws += _laws(journal, KaplanMeier, rows, rows[told[rows]])
        elif meaning == "default":
            came = rows[told[rows] & (journal.rewards[rows] != default)]
            laws += _laws(journal, RightTruncated, came, came)
        else:
            for high in (False, True):
                came = rows[told[rows] & ((journal.rewards[rows] >= 0.5) == high)]
                laws += _laws(journal, RightTruncated, came, came)
    is_old = journal.ages >= _least_age(journal, laws)
    return SilenceCorrection(meaning, journal.rewards, default, tuple(laws), is_old)


def _least_age(journal: Journal, laws: Sequence[_Law]) -> float:
    """Return the age at which LEAST_COME of what comes has come by each of the laws.

    It is never more than 1 / YOUNG of the log: older rows count, however little has come.
    """
    found = 0.0
    for source, _, at_ages in laws:
        steps = at_ages.law.values(journal.weights[source])
        place = int(np.argmax(steps >= LEAST_COME * steps[-1]))
        found = max(found, float(at_ages.law.times[place]))
    return min(found, _span(journal) / YOUNG)


def _span(journal: Journal) -> float:
    """Return how long the log is."""
    return max(float(np.ptp(journal.played)), float(journal.ages.max()))


def _laws(
    journal: Journal, kind: type[KaplanMeier | RightTruncated], source: Counts, asked: Counts
) -> list[_Law]:
    if not asked.size:
        return []
    law = kind(journal.delays[source], journal.ages[source])
    return [_Law(source, asked, LawAtAges.of(law, journal.ages[asked]))]


def too_young(journal: Journal, meaning: Meaning, used: Mask) -> list[str]:
    """Return the arms, of those used, whose median delay is not well within the log.

    If the log is shorter than three times the median delay of an arm, most of what will come of it
    has not come, and no correction can be trusted. Nor can it if nothing of the arm has come. In a
    log without times of outcomes, where silence is the default, there is nothing to correct.
    """
    if meaning == "default" and not journal.timed:
        return []
    span, found = _span(journal), []
    for arm in np.flatnonzero(used):
        rows = np.flatnonzero(journal.chosen == arm)
        if not rows.size or journal.told[rows].all():
            continue
        median = median_delay(journal.delays[rows], journal.ages[rows], journal.weights[rows])
        if np.isnan(median) or span < YOUNG * median:
            found.append(journal.arms[arm])
    return found


def filled(journal: Journal, reward: float) -> Corrected:
    """Return the rows with one reward for all that was not told: 0 and 1 give the bounds."""
    outcome = np.where(journal.told, journal.rewards, reward)
    return Corrected(np.ones(len(journal)), outcome)
