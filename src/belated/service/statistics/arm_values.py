"""What an arm is worth in the end, with the plays allowed for whose outcome is still awaited.

To leave these plays out would flatter an arm whose good outcomes come fast, and blame one whose
come late. A play that waits counts as plays of its age have turned out. That is the integral of the
loss by the Kaplan-Meier estimate of when a play is closed (Stute 1995, "The central limit theorem
under random censorship"). Let n_j plays of loss sum L_j be closed in the j-th bin of delays, of R_j
that were at risk, and S_j the share still open after it. The value is the sum of S_{j-1} L_j/R_j,
and the share that is open after the longest delay counts with the loss that silence means. It is
right also if good and bad outcomes take different times, because age alone decides what is awaited.

Told and expired plays are closed, each with the loss that the learner counts. Where silence means
nothing, plays that are never told are taken to be like those that are.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from belated.service.statistics.delays import DelayBin, Z, end_of

NEGLIGIBLE = 1e-12


class ArmValue(NamedTuple):
    """The mean loss of an arm's plays in the end, and half of its 95 % interval; None: not known.

    `starts` are the beginnings of the bins in which plays were closed, and `after` the mean loss of
    plays that are still open at the start of the first, and after each of them.
    """

    mean: float
    half_width: float | None
    starts: tuple[float, ...] = ()
    after: tuple[float, ...] = ()

    def of_age(self, age: float) -> float:
        """The mean loss in the end of a play that has waited so long, or longer."""
        return self.after[bisect_right(self.starts, age)]

    def among(
        self, closed: float, losses: float, squares: float, waiting: Sequence[tuple[float, float]]
    ) -> "ArmValue | None":
        """The value of some of the arm's plays: so many closed ones, and pairs (age, number).

        What waits is taken to turn out as all plays of the arm have. So the interval is that of the
        closed ones and that of all plays, each by its share.
        """
        awaited = sum(number for _, number in waiting)
        if closed + awaited <= 0:
            return None
        total = losses + sum(number * self.of_age(age) for age, number in waiting)
        half = None
        if closed >= 2:
            variance = max(0.0, squares - losses**2 / closed) / (closed - 1)
            half = Z * math.sqrt(variance / closed)
        if awaited > 0 and half is not None:
            share = awaited / (closed + awaited)
            whole = self.half_width
            half = None if whole is None else (1.0 - share) * half + share * whole
        return ArmValue(total / (closed + awaited), half)


class Closing(NamedTuple):
    """The plays closed in a bin of delays, how many were at risk, and the share open before."""

    start: float
    closed: int
    losses: float
    squares: float
    at_risk: float
    open_before: float


def closings(
    bins: Mapping[int, DelayBin], ages: Sequence[float], waiting: Sequence[float]
) -> tuple[list[Closing], float]:
    """The bins in which plays were closed, and the share of plays that is open after them all.

    `waiting` has the numbers of plays that wait, between the rising `ages`, the youngest first.
    """
    known = sum(each.closed for each in bins.values())
    found: list[Closing] = []
    open_share = 1.0
    for place, each in sorted(bins.items()):
        start = end_of(place - 1) if place else 0.0
        at_risk = known + sum(waiting[bisect_right(ages, start) :])
        found.append(Closing(start, each.closed, each.losses, each.squares, at_risk, open_share))
        open_share *= 1.0 - each.closed / at_risk
        known -= each.closed
    return found, open_share


def arm_value(
    bins: Mapping[int, DelayBin],
    ages: Sequence[float],
    waiting: Sequence[float],
    default_loss: float | None,
) -> ArmValue | None:
    """The value of an arm; None if none of its plays is closed.

    The variance is the sum over the bins of S_{j-1}^2 v_j/R_j. Here v_j is the variance, among the
    plays at risk, of the loss if a play is closed in the bin, and else of the mean loss of those
    that are still open after it. If nothing waits, it is the usual variance of a mean.
    """
    steps, open_share = closings(bins, ages, waiting)
    closed = sum(step.closed for step in steps)
    if closed == 0:
        return None
    is_told = default_loss is None or open_share < NEGLIGIBLE
    share = 1.0 - open_share if is_told else 1.0
    total = sum(step.open_before * step.losses / step.at_risk for step in steps)
    after = [total / share if is_told else float(default_loss or 0.0)]
    variance = 0.0
    for step in reversed(steps):
        later, left = after[-1], step.at_risk - step.closed
        mean = (step.losses + left * later) / step.at_risk
        spread = (step.squares + left * later**2) / step.at_risk - mean**2
        variance += step.open_before**2 * max(0.0, spread) / step.at_risk
        after.append(mean)
    half = None
    if closed >= 2:
        half = Z * math.sqrt(variance * closed / (closed - 1)) / share
    starts = tuple(step.start for step in steps)
    return ArmValue(after[-1], half, starts, tuple(reversed(after)))
