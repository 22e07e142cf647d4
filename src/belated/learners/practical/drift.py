"""Drift accounts: a soft minimum that finds its own rate from what its plays have cost so far.

A player follows q = softmin_eta(G) for values G that change from round to round, and V is its own
loss, as far as either is known or guessed. With the level Phi_eta(G) = -(1/eta) ln sum_i pi(i)
exp(-eta G(i)) the drift of a round is by how much V has risen more than Phi, at the rate of the
round before. Its sum D bounds the regret, and the rate is c/Dmax, Dmax the largest D so far. The
steady strategy's c falls as Dmax grows: it is bold while being so has cost little.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.numerics.exponential_weights import weigh_exponentially
from belated.numerics.softmin import below_least

LEAST_DRIFT = 1 / 64
# Dmax begins here and not at 0: the regret grows by about a sixty-fourth at most, and no rate is so
# high that the rounding of G would decide between arms that are equally good.
BOLD, SOBER, SOBERING = 12.0, 1.0, 60.0
# In eta = c ln K/Dmax, c begins at BOLD, or at the value of an option, and falls to SOBER, which is
# that of AdaHedge; it is half way when Dmax is SOBERING. They were chosen on half of the scenarios.


class DriftAccount(NamedTuple):
    """The sum of the drifts D, its largest value Dmax, and V and Phi after the last round."""

    drift: Floats
    most: Floats
    lost: Floats
    level: Floats


def opened(level: float, least: float = LEAST_DRIFT) -> DriftAccount:
    """Make the account before the first round, when Phi is `level`; Dmax begins at `least`."""
    return DriftAccount(np.zeros(1), np.full(1, least), np.zeros(1), np.full(1, level))


@compiled
def book(before: DriftAccount, lost: float, level: float, after: DriftAccount) -> bool:
    """Enter V and Phi, with Phi at the rate of the last round; returns whether Dmax has grown."""
    after.drift[0] = before.drift[0] + ((lost - before.lost[0]) - (level - before.level[0]))
    after.most[0] = max(before.most[0], after.drift[0])
    after.lost[0] = lost
    after.level[0] = level
    return bool(after.most[0] > before.most[0])


@compiled
def keep(account: DriftAccount, later: DriftAccount) -> None:
    """Copy the numbers of a later account to an earlier one."""
    account.drift[0] = later.drift[0]
    account.most[0] = later.most[0]
    account.lost[0] = later.lost[0]
    account.level[0] = later.level[0]


@compiled
def sobering_temperature(most: float, arms: int, bold: float) -> float:
    """Return 1/eta of the steady strategy, Dmax/(c ln K), with ln 2 for a single arm.

    It rises with Dmax, and c = 1 + (bold - 1) * 60/(60 + Dmax).
    """
    c = SOBER + (bold - SOBER) * SOBERING / (SOBERING + most)
    return most / (c * math.log(max(arms, 2)))


@compiled
def follow(
    before: DriftAccount, lost: float, values: Floats, bold: float, q: Floats, after: DriftAccount
) -> None:
    """Compute q = softmin_eta(values) with a uniform prior, and enter the round in the account.

    The rate eta is that of `sobering_temperature`.
    """
    arms = values.shape[0]
    temperature, log_size = sobering_temperature(before.most[0], arms, bold), math.log(arms)
    level = soft_minimum(values, temperature, q) + temperature * log_size
    if book(before, lost, level, after):
        temperature = sobering_temperature(after.most[0], arms, bold)
        after.level[0] = soft_minimum(values, temperature, q) + temperature * log_size


@compiled
def follow_prior(
    before: DriftAccount,
    lost: float,
    values: Floats,
    log_prior: Floats,
    pull: float,
    q: Floats,
    after: DriftAccount,
) -> None:
    """Compute q for any prior and the rate pull/Dmax, and enter the round in the account.

    q is the softmin of v - ln(pi)/eta, which take the place of the values v.
    """
    temperature = before.most[0] / pull
    handicap(values, log_prior, temperature)
    if book(before, lost, soft_minimum(values, temperature, q), after):
        handicap(values, log_prior, after.most[0] / pull - temperature)
        after.level[0] = soft_minimum(values, after.most[0] / pull, q)


@compiled
def handicap(values: Floats, log_prior: Floats, temperature: float) -> None:
    """Subtract lambda ln pi from the values, where lambda is the temperature."""
    for k in range(values.shape[0]):
        values[k] -= temperature * log_prior[k]


@compiled
def soft_minimum(values: Floats, temperature: float, q: Floats) -> float:
    """Return -lambda ln sum_i exp(-v(i)/lambda) for lambda = 1/eta, and fill q with the softmin."""
    weigh_exponentially(values, 1.0 / temperature, q)
    return float(values.min() + below_least(q, temperature))
