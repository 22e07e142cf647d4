"""How late reports come, by arm and outcome, learned from plays of any age; and what silence says.

A report is seen only if it takes less time than its play is old, so short delays are seen too
often. The law therefore asks backwards: of the reports that came by the end of an age bin, how many
came in it? Only plays that have passed the bin are asked, and each of those as soon as it has. The
products of these shares over the later bins give the chance F that a report has come by an age, if
it comes within the ages that were seen at all.
"""

from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled, compiled_apart
from belated.learners.following import ENDED, LEAST_CHANCE, NO_MEANING, SHARED
from belated.learners.states import ArmFloats

ONES, ZEROS = range(2)  # outcomes: a reward r counts as r of a one and 1 - r of a zero
BOTH = 2  # in `untold`, after the two outcomes
HERE = 2  # in `counts`: reports by the end of the bin, by outcome, then those in the bin
PASSED, SILENT_AT_END = 4, 5  # in `counts`: plays that passed the bin, and the silent ones of them
ENOUGH = 20.0  # passed plays that tell which share of an arm's reports is lost
UNKNOWN_SHARE = 0.9  # the share that is lost as long as too few plays have passed


class ReportDelays(NamedTuple):
    """What was counted by bin and arm, the sums over all arms, and the law that follows.

    `untold` is the chance S that a report of an outcome, or of any, is still to come after a bin,
    if it comes; `lost` is rho, the share of an arm's plays that never report.
    """

    counts: ArmFloats
    sums: Floats
    untold: ArmFloats
    lost: ArmFloats


def no_delays(arms: int, bins: int) -> ReportDelays:
    """Make the record before the first report, for so many bins of age."""
    return ReportDelays(
        counts=np.zeros((6, bins, arms)),
        sums=np.zeros((4, bins)),
        untold=np.zeros((3, bins, arms)),
        lost=np.full(arms, UNKNOWN_SHARE),
    )


@compiled
def count_look(law: ReportDelays, bin_: int, arm: int, fate: int, reward: float) -> None:
    """Count a play that passes a bin: the bin it was told in, its reward, or its silence.

    `fate` is that bin, or below zero for a play that is silent.
    """
    law.counts[PASSED, bin_, arm] += 1.0
    if fate < 0:
        law.counts[SILENT_AT_END, bin_, arm] += 1.0
        return
    for outcome in range(2):
        share = reward if outcome == ONES else 1.0 - reward
        law.counts[outcome, bin_, arm] += share
        law.sums[outcome, bin_] += share
        if fate == bin_:
            law.counts[HERE + outcome, bin_, arm] += share
            law.sums[HERE + outcome, bin_] += share


@compiled
def reports(law: ReportDelays, outcome: int) -> float:
    """Return how many reports of an outcome came, from plays that have passed their bins."""
    number = 0.0
    for bin_ in range(law.sums.shape[1]):
        number += law.sums[HERE + outcome, bin_]
    return number


@compiled
def share_here(law: ReportDelays, bin_: int, outcome: int) -> float:
    """Return h_j, the share of all arms' reports of an outcome by the end of a bin that came in it.

    It is mixed with that of SHARED reports of both outcomes.
    """
    by_end = law.sums[ONES, bin_] + law.sums[ZEROS, bin_]
    both = 0.0
    if by_end > 0.0:
        both = (law.sums[HERE + ONES, bin_] + law.sums[HERE + ZEROS, bin_]) / by_end
    if outcome == BOTH:
        return float(both)
    here = law.sums[HERE + outcome, bin_] + SHARED * both
    return float(here / (law.sums[outcome, bin_] + SHARED))


@compiled_apart
def renew_law(law: ReportDelays) -> None:
    """Compute again, for every arm, the chances S after each bin and the share that is lost.

    h_aj = (n_aj + c h_j)/(N_aj + c); S after bin j is 1 - prod over k > j of (1 - h_ak).
    """
    counts, arms, last = law.counts, law.lost.shape[0], law.counts.shape[1] - 1
    for arm in range(arms):
        for outcome in range(3):
            law.untold[outcome, last, arm] = 1.0
    for bin_ in range(last, -1, -1):
        for outcome in range(3):
            shared = SHARED * share_here(law, bin_, outcome)
            for arm in range(arms):
                if outcome == BOTH:
                    by_end = counts[ONES, bin_, arm] + counts[ZEROS, bin_, arm]
                    here = counts[HERE + ONES, bin_, arm] + counts[HERE + ZEROS, bin_, arm]
                else:
                    by_end, here = counts[outcome, bin_, arm], counts[HERE + outcome, bin_, arm]
                come = law.untold[outcome, bin_, arm]  # F after this bin, until it is replaced
                law.untold[outcome, bin_, arm] = 1.0 - come
                if bin_ > 0:
                    share = (here + shared) / (by_end + SHARED)
                    law.untold[outcome, bin_ - 1, arm] = come * (1.0 - share)
    for arm in range(arms):
        law.lost[arm] = UNKNOWN_SHARE
        for bin_ in range(last, -1, -1):
            if counts[PASSED, bin_, arm] >= ENOUGH:
                silent = counts[SILENT_AT_END, bin_, arm]
                law.lost[arm] = (silent + 1.0) / (counts[PASSED, bin_, arm] + 2.0)
                break


@compiled
def said_by_silence(
    law: ReportDelays, default_loss: float, bin_: int, arm: int, foretold: float
) -> tuple[float, float]:
    """Return the weight and the reward as which a play counts that is silent after a bin.

    Let f be the foretold reward, and G1, G0 the chances that a reward of 1, of 0, is still untold.
    The score of the likelihood f G1 + (1 - f) G0 is that of a reward of 0 with the weight (1 -
    f)(G0 - G1)/(f G1 + (1 - f) G0), if G0 >= G1. Else it is that of a reward of 1 with the weight f
    (G1 - G0)/(...). A default loss of 1 says that zeros are never told, one of 0 that ones are not;
    any other one is itself what silence counts as, with the weight 1 - S.
    """
    ones, zeros = law.untold[ONES, bin_, arm], law.untold[ZEROS, bin_, arm]
    if default_loss == 1.0:
        zeros = 1.0
    elif default_loss == 0.0:
        ones = 1.0
    elif default_loss != NO_MEANING:
        return 1.0 - law.untold[BOTH, bin_, arm], 1.0 - default_loss
    else:
        ones = law.lost[arm] + (1.0 - law.lost[arm]) * ones
        zeros = law.lost[arm] + (1.0 - law.lost[arm]) * zeros
    chance = min(max(foretold, LEAST_CHANCE), 1.0 - LEAST_CHANCE)
    silent = chance * ones + (1.0 - chance) * zeros
    if silent <= 0.0:
        return 0.0, 0.0
    if zeros >= ones:
        return (1.0 - chance) * (zeros - ones) / silent, 0.0
    return chance * (ones - zeros) / silent, 1.0


@compiled
def is_counted(default_loss: float, fate: int, reward: float) -> bool:
    """Whether a play that passes a bin is counted: not if it was withdrawn.

    Nor if it was told the reward that silence means: it may have expired, which says nothing of
    delays.
    """
    return bool(fate != ENDED and (fate < 0 or reward != 1.0 - default_loss))
