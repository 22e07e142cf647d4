"""A confidence sequence by betting: an interval that may be looked at as often as one likes.

After Waudby-Smith and Ramdas. For each candidate m of the policy's value, somebody bets that the
mean of z = w r is above m: the capital is prod (1 + lambda_t (z_t - m)) with 0 <= lambda_t <= c /
m. If m is the value, the capital is a martingale above 0 and exceeds 2 / delta with chance delta
/ 2 at most, at any time (Ville). All m whose capital never did so are kept. Since z >= 0 is all
that is needed, weights need no bound. The other side is the same bet on w (1 - r), whose mean is
1 - value, because weights have the mean 1; with w = 1 the two are the pair of the paper.

Late outcomes keep it valid: lambda_t rests only on what was known when row t was played, so it is
fixed from then on. What is not told counts as z = 0 on both sides, with which the capital is at
most what it will be. So the interval holds whatever silence means, and for a learner as logger.
"""

import math

import numpy as np

from belated.arrays import Counts, Floats
from belated.evaluation.intervals import LEVEL, Interval

GRID = 1000  # candidates m
CAUTION = 0.5  # c: no bet risks more than this share of the capital


def betting_interval(
    weights: Floats, rewards: Floats, known_from: Counts, level: float = LEVEL
) -> Interval:
    """Return the interval for the value at the end of the log; rewards are NaN if not told."""
    lows, highs = betting_sequence(weights, rewards, known_from, np.array([len(weights)]), level)
    return Interval(float(lows[-1]), float(highs[-1]))


def betting_sequence(
    weights: Floats,
    rewards: Floats,
    known_from: Counts,
    looks: Counts,
    level: float = LEVEL,
) -> tuple[Floats, Floats]:
    """Return the lower and upper ends after the first rows, as many as each of `looks` says.

    `known_from` has, for each row, the first later row before which its outcome was known. All
    looks use what is known at the end of the log.
    """
    low = _lower_ends(weights * rewards, known_from, looks, level)
    high = 1.0 - _lower_ends(weights * (1.0 - rewards), known_from, looks, level)
    return low, np.maximum(low, high)


def _lower_ends(values: Floats, known_from: Counts, looks: Counts, level: float) -> Floats:
    """Return the largest m of a grid that was refuted by each look; NaN values count as 0.

    The capital falls as m grows, so that all below it are refuted, too, and halving finds it.
    """
    bets = _bets(values, known_from, level)
    values = np.nan_to_num(values)
    limit = math.log(2.0 / (1.0 - level))

    def refuted(m: float, look: int) -> bool:
        stake = np.minimum(bets[:look], CAUTION / m) if m else bets[:look]
        capital = np.cumsum(np.log1p(stake * (values[:look] - m)))
        return bool(capital.max(initial=0.0) >= limit)

    ends, known = np.empty(len(looks)), -1  # the largest place in the grid known to be refuted
    for place, look in enumerate(looks.tolist()):
        beyond = GRID + 1
        while beyond - known > 1:
            middle = (known + beyond) // 2
            known, beyond = (middle, beyond) if refuted(middle / GRID, look) else (known, middle)
        ends[place] = max(known, 0) / GRID
    return ends


def _bets(values: Floats, known_from: Counts, level: float) -> Floats:
    """Return lambda_t = sqrt(2 ln(2/delta) / (v t ln(t + 1))) from what was known before row t.

    v = (1/4 + sum (z - mu)^2) / (t + 1) and mu = (1/2 + sum z) / (t + 1) of the values in the
    order in which they became known; t is one more than their number.
    """
    rows = np.flatnonzero(~np.isnan(values))
    rows = rows[np.argsort(known_from[rows], kind="stable")]
    known, number = values[rows], np.arange(1, rows.size + 1)
    mean = (0.5 + np.cumsum(known)) / (number + 1.0)
    variance = (0.25 + np.cumsum((known - mean) ** 2)) / (number + 1.0)
    variance = np.concatenate([[0.25], variance])
    count = np.searchsorted(known_from[rows], np.arange(len(values)), side="right")
    turn = count + 1.0
    bets: Floats = np.sqrt(
        2.0 * math.log(2.0 / (1.0 - level)) / (variance[count] * turn * np.log(turn + 1.0))
    )
    return bets


def known_from(played: Floats, delays: Floats) -> Counts:
    """Return for each row the first later row before which its outcome was known.

    What comes at the moment of a decision comes after it. A row that is never told gets the number
    of rows.
    """
    arrivals = np.where(np.isnan(delays), np.inf, played + delays)
    first = np.searchsorted(played, arrivals, side="right")
    return np.maximum(first, np.arange(1, len(played) + 1))
