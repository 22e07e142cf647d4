"""The rival bandits, written out from their definitions: slow, all afresh every round."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import wrightomega

from belated.arrays import Floats


class Play(NamedTuple):
    """A play: its round, its arm, its delay (infinite if its loss never comes), and its loss."""

    round: int
    arm: int
    delay: float
    loss: float


class Now(NamedTuple):
    """What a rule may know in round t: the plays before it, and of their losses the sum."""

    t: int
    plays: list[Play]
    estimates: Floats

    @property
    def arms(self) -> int:
        return self.estimates.size

    @property
    def log_arms(self) -> float:
        return math.log(self.arms)

    def under_way(self, t: int) -> list[Play]:
        """The plays before round t whose losses are not known when it begins."""
        return [play for play in self.plays if play.round < t and play.round + play.delay >= t]

    @property
    def late(self) -> int:
        """D_t, the plays under way in each round so far, added up."""
        return sum(len(self.under_way(t)) for t in range(1, self.t + 1))


Weights = Callable[[Now], Floats]
Divisor = Callable[[Now, float], float]


def played_literally(
    arms: int, plays: list[Play], weights: Weights, divisor: Divisor = lambda now, q: q
) -> Floats:
    """q_t in row t-1; a loss is divided by what its play was divided by in its own round."""
    q = np.empty((len(plays), arms))
    divisors: list[float] = []
    for t, play in enumerate(plays, 1):
        estimates = np.zeros(arms)
        for past, by in zip(plays[: t - 1], divisors, strict=True):
            if past.round + past.delay < t:
                estimates[past.arm] += past.loss / by
        now = Now(t, plays[: t - 1], estimates)
        q[t - 1] = weights(now)
        divisors.append(divisor(now._replace(plays=[*now.plays, play]), q[t - 1, play.arm]))
    return q


def exponential(estimates: Floats, eta: float) -> Floats:
    """Weights in proportion to exp(-eta L)."""
    weights = np.exp(-eta * (estimates - estimates.min()))
    return np.asarray(weights / weights.sum())


def hybrid(estimates: Floats, root: float, inverse: float) -> Floats:
    """The argmin of <x, L> - 2 root sum sqrt(x) + inverse sum x ln x over the simplex.

    Stationarity is L - root/sqrt(x) + inverse ln(x) = c; with y = -ln(x)/2 and w = a exp(y), where
    a = root/(2 inverse), that is w + ln w = (L - c)/(2 inverse) + ln a.
    """
    arms = estimates.size
    if arms == 1:
        return np.ones(1)
    gaps = estimates - estimates.min()

    def weights(c: float) -> Floats:
        if inverse == 0.0:
            return np.asarray((root / (gaps - c)) ** 2)
        ratio = root / (2.0 * inverse)
        omega = wrightomega((gaps - c) / (2.0 * inverse) + math.log(ratio))
        return np.asarray((ratio / omega.real) ** 2)

    low = -2.0 * (root * math.sqrt(arms) + inverse * math.log(arms))
    c = brentq(lambda c: float(weights(c).sum()) - 1.0, low, -root, xtol=1e-15, rtol=1e-15)
    x = weights(c)
    return np.asarray(x / x.sum())


def skipped_late(now: Now) -> int:
    """D_t of the advanced tuning, by flags that are lowered one round after another."""
    flags = [True] * len(now.plays)
    total = 0
    for t in range(1, now.t + 1):
        total += sum(flags[play.round - 1] for play in now.under_way(t))
        for play in now.plays[: t - 1]:
            if min(play.delay, t - play.round) > math.sqrt(total / now.log_arms):
                flags[play.round - 1] = False
    return total


def log_barrier(estimates: Floats, eta: float) -> Floats:
    """x_i = 1/(eta (L_i - c))."""
    gaps, arms = estimates - estimates.min(), estimates.size
    if arms == 1 or eta == 0.0:
        return np.full(arms, 1.0 / arms)
    excess: Any = lambda c: float((1.0 / (eta * (gaps - c))).sum()) - 1.0  # noqa: E731
    c = brentq(excess, -1.01 * arms / eta, -0.99 / eta, xtol=1e-15, rtol=1e-15)
    x = 1.0 / (eta * (gaps - c))
    return np.asarray(x / x.sum())
