"""The uplift of a treated cohort over its control, with an interval that holds at every look.

Decision i flips a coin that is the control with probability s, whatever has happened before. Let y
be its reward in [0, 1], and b any baseline that rests on earlier decisions. With z = (y - b)
(treated / (1 - s) - control / s), the mean of z given all earlier decisions and their rewards is
what treating decision i adds. This may change from one decision to the next, as it does while a
learner learns. The uplift is the mean of these over the decisions that count.

The interval is the empirical Bernstein confidence sequence of Howard, Ramdas, McAuliffe and Sekhon
(2021, Theorem 4), which is for exactly such a mean. For 0 <= l < 1/c and |z| <= c = 1/min(s, 1 - s)
the process exp(l sum (z_i - E z_i) - psi(l) sum z_i^2) is a supermartingale, where
psi(l) = (-ln(1 - c l) - c l) / c^2. Mixed over several l it exceeds 2 / delta with a chance of
delta / 2 at most, at any time (Ville). The other side is the same.

Late outcomes keep this valid if decisions count in their order, each once its reward is fixed. Then
a look sees the first n decisions for some n, and the sequence holds for all n at once.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belated.arrays import Floats
from belated.evaluation.intervals import LEVEL

RATES = 24  # values of l in the mixture, each half of the one before
HALVINGS = 60


def scores(is_control: NDArray[np.bool_], rewards: Floats, share: float) -> Floats:
    """Return z for each decision; its baseline is the mean reward of those before, with 1/2."""
    before = np.concatenate([[0.0], np.cumsum(rewards)[:-1]]) if rewards.size else rewards
    baseline = (0.5 + before) / np.arange(1, rewards.size + 1)
    weights = np.where(is_control, -1.0 / share, 1.0 / (1.0 - share))
    return np.asarray((rewards - baseline) * weights)


def half_width(squares: ArrayLike, counts: ArrayLike, share: float, level: float = LEVEL) -> Floats:
    """Return half of each interval's width, from the sum of z^2 and the number of decisions.

    It is the largest deviation of sum z, divided by their number, at which the mixture of exp(l
    deviation - psi(l) squares) is below 2 / delta. The k-th l has the weight 1 / (k (k + 1)).
    """
    scale = 1.0 / min(share, 1.0 - share)
    place = np.arange(1, RATES + 1)
    rates = 0.5**place / scale
    psi = (-np.log1p(-scale * rates) - scale * rates) / scale**2
    fixed = -np.log(place * (place + 1.0)) - psi * np.asarray(squares)[..., None]
    limit = math.log(2.0 / (1.0 - level))
    high = ((limit - fixed) / rates).min(axis=-1)  # one l alone would refute it there
    low = np.zeros_like(high)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        exponents = fixed + rates * middle[..., None]
        most = exponents.max(axis=-1)
        refuted = most + np.log(np.exp(exponents - most[..., None]).sum(axis=-1)) >= limit
        low, high = np.where(refuted, low, middle), np.where(refuted, middle, high)
    return np.asarray(high / np.asarray(counts))


def intervals(
    found: Floats, places: ArrayLike, share: float, level: float = LEVEL
) -> tuple[Floats, Floats, Floats]:
    """Return the uplift after the first decisions, as many as each of `places` says, and its ends.

    `found` are the scores. All intervals hold at once with the chance `level`.
    """
    counts = np.asarray(places, dtype=np.int64)
    value = np.cumsum(found)[counts - 1] / counts
    half = half_width(np.cumsum(found * found)[counts - 1], counts, share, level)
    return value, np.maximum(value - half, -1.0), np.minimum(value + half, 1.0)
