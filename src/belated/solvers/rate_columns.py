"""Cumulative losses by arm and rate, stored so that an arrival changes only two numbers.

An arrival adds loss + 4 rate_j weighed to L(i,j), where `weighed` is the loss times 1 + rho
(eq:fullinfocorr) or times rho (eq:correctionbandit). While the rates are constant, two sums per arm
are therefore enough, the array `fresh`: L(i,j) = losses(j,i) + fresh(0,i) + 4 rate_j fresh(1,i).

Columns of equal rate, which the cap in eq:fullinfoeta and eq:banditgamma produces, differ only by
what they gathered under earlier rates. They are merged into one row, with the smallest of their
losses as its `level` and ln pi(i) + ln sum_j w_j exp(-rate (losses(j,i) - level)) as its `offset`.

Below the cap each rate is half of the one before, so that a weight of the faster row is the square
of that of the slower one, times a constant `ratio` and exp(-8 slower^2 fresh(1,i)).
"""

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.compiled.jit import compiled, compiled_apart, inlined
from belated.numerics.lanes import Lanes, fused, load

PLAIN, WEIGHED = 0, 1  # rows of `fresh`
LARGEST_LOG = 300.0  # of a ratio that can be multiplied without overflow


@compiled_apart
def settle(losses: Floats, fresh: Floats, rates: Floats) -> None:
    """Add the fresh sums to the losses and reset them to zero; called before the rates change."""
    for j in range(losses.shape[0]):
        for i in range(losses.shape[1]):
            losses[j, i] += fresh[PLAIN, i] + 4.0 * rates[j] * fresh[WEIGHED, i]
    for i in range(losses.shape[1]):
        fresh[PLAIN, i] = 0.0
        fresh[WEIGHED, i] = 0.0


@compiled_apart
def cumulative(losses: Floats, fresh: Floats, rates: Floats) -> Floats:
    """The table Lhat^av of the paper, of shape (arm, rate)."""
    table = np.empty((losses.shape[1], losses.shape[0]))
    for i in range(losses.shape[1]):
        for j in range(losses.shape[0]):
            table[i, j] = losses[j, i] + (fresh[PLAIN, i] + 4.0 * rates[j] * fresh[WEIGHED, i])
    return table


@compiled
def equal_rates(rates: Floats) -> int:
    """The number of rates equal to the first, where rates are sorted from the largest down."""
    count = 1
    while count < rates.shape[0] and rates[count] == rates[0]:
        count += 1
    return count


@compiled_apart
def merge(
    losses: Floats,
    log_prior: Floats,
    log_weight: Floats,
    rates: Floats,
    levels: Floats,
    offsets: Floats,
) -> int:
    """Fill levels and offsets of all arms; returns the number of columns merged into row 0."""
    merged = equal_rates(rates)
    for i in range(losses.shape[1]):
        merge_arm(losses, log_prior, log_weight, rates[0], merged, levels, offsets, i)
    return merged


@compiled_apart
def merge_arm(
    losses: Floats,
    log_prior: Floats,
    log_weight: Floats,
    rate: float,
    merged: int,
    levels: Floats,
    offsets: Floats,
    i: int,
) -> None:
    """Fill levels and offsets of arm i; the first `merged` columns make up row 0."""
    level = losses[0, i]
    for j in range(1, merged):
        level = min(level, losses[j, i])
    sum_ = 0.0
    for j in range(merged):
        sum_ += math.exp(log_weight[j] - rate * (losses[j, i] - level))
    levels[0, i] = level
    offsets[0, i] = log_prior[i] + math.log(sum_)
    for j in range(merged, losses.shape[0]):
        levels[j - merged + 1, i] = losses[j, i]
        offsets[j - merged + 1, i] = log_prior[i] + log_weight[j]


class Columns(Protocol):
    """A state with losses by arm and rate; `merged` is the number of columns in row 0."""

    @property
    def losses(self) -> Floats: ...

    @property
    def log_prior(self) -> Floats: ...

    @property
    def log_weight(self) -> Floats: ...

    @property
    def rates(self) -> Floats: ...

    @property
    def levels(self) -> Floats: ...

    @property
    def offsets(self) -> Floats: ...

    @property
    def merged(self) -> NDArray[np.int64]: ...


@compiled
def merge_again(state: Columns, arm: int) -> None:
    """Recompute levels and offsets of one arm after a change of its losses."""
    merge_arm(
        state.losses,
        state.log_prior,
        state.log_weight,
        state.rates[0],
        int(state.merged[0]),
        state.levels,
        state.offsets,
        arm,
    )


@compiled_apart
def chain(rates: Floats, levels: Floats, offsets: Floats, ratios: Floats) -> bool:
    """Fill the ratios of all rows but the first and the last; returns whether they can be used."""
    usable = True
    for i in range(levels.shape[1]):
        usable = usable and chain_arm(rates, levels, offsets, ratios, i)
    return usable


@compiled_apart
def chain_arm(rates: Floats, levels: Floats, offsets: Floats, ratios: Floats, i: int) -> bool:
    """Fill the ratios of arm i; returns False if the rates do not halve or a ratio is extreme."""
    for r in range(1, rates.shape[0] - 1):
        apart = rates[r] * (levels[r, i] - levels[r + 1, i])
        log_ratio = offsets[r, i] - 2.0 * offsets[r + 1, i] - apart
        if not (abs(log_ratio) <= LARGEST_LOG and rates[r] == 2.0 * rates[r + 1]):
            return False
        ratios[r, i] = math.exp(log_ratio)
    return True


@compiled_apart
def unmerged(
    losses: Floats,
    fresh: Floats,
    old_rates: Floats,
    log_prior: Floats,
    log_weight: Floats,
    levels: Floats,
    offsets: Floats,
) -> None:
    """Fill levels and offsets with one row per column, none merged, fresh sums included."""
    for j in range(losses.shape[0]):
        rate, log_share = old_rates[j], log_weight[j]
        for i in range(losses.shape[1]):
            levels[j, i] = losses[j, i] + (fresh[PLAIN, i] + 4.0 * rate * fresh[WEIGHED, i])
            offsets[j, i] = log_prior[i] + log_share


@inlined
def loss(level: Floats, plain: Floats, weighed: Floats, rate: float, i: int, part: bool) -> Lanes:
    """The cumulative losses L of one rate for the four arms from i on."""
    return load(level, i, 0.0, part) + arrivals(plain, weighed, rate, i, part)


@inlined
def arrivals(plain: Floats, weighed: Floats, rate: float, i: int, part: bool) -> Lanes:
    """The fresh losses, plain + 4 rate weighed, of one rate for the four arms from i on."""
    return fused(load(weighed, i, 0.0, part), 4.0 * rate, load(plain, i, 0.0, part))


@compiled_apart
def spread_over_rates(
    losses: Floats, log_weight: Floats, rates: Floats, y: float, q: float, p: Floats
) -> None:
    """Fill p(i, .) proportional to w_j exp(rate_j (y - L(i,j))), with sum q."""
    most = -np.inf
    for j in range(rates.shape[0]):
        p[j] = log_weight[j] + rates[j] * (y - losses[j])
        most = max(most, p[j])
    sum_ = 0.0
    for j in range(rates.shape[0]):
        p[j] = math.exp(p[j] - most)
        sum_ += p[j]
    for j in range(rates.shape[0]):
        p[j] *= q / sum_
