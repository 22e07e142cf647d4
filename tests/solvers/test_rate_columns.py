"""Losses by arm and rate as the learners keep them, against the formulas they stand for."""

import numpy as np
import pytest

from belated.arrays import Floats
from belated.solvers.rate_columns import (
    PLAIN,
    WEIGHED,
    RateColumns,
    chain,
    chain_arm,
    cumulative,
    equal_rates,
    merge,
    merge_arm,
    settle,
    spread_over_rates,
    unmerged,
)

pytestmark = pytest.mark.core

SEEDS = pytest.mark.parametrize("seed", range(30))


class Table:
    """A random table: some of the rates equal, some arms of prior zero."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.size, self.arms = int(rng.integers(1, 12)), int(rng.integers(1, 20))
        steps = 2.0 ** -np.arange(self.size) * 10 ** rng.uniform(-2, 2)
        self.rates = np.minimum(10 ** rng.uniform(-3, 0), steps)
        self.losses = 10 ** rng.uniform(-1, 3) * rng.random((self.size, self.arms))
        if rng.random() < 0.3:
            self.losses[:] = self.losses[:1]
        self.fresh = rng.random((2, self.arms)) * [[30.0], [200.0]]
        prior = rng.dirichlet(np.ones(self.arms))
        prior[rng.random(self.arms) < 0.2] = 0.0
        with np.errstate(divide="ignore"):
            self.log_prior = np.log(prior)
        weights = 4.0 ** -np.arange(1.0, self.size + 1.0)
        self.log_weight = np.log(weights / weights.sum())
        self.levels, self.offsets = np.full((2, self.size, self.arms), np.nan)
        self.merged = np.zeros(1, dtype=np.int64)

    @property
    def literal(self) -> Floats:
        """L(i,j) = losses(j,i) + fresh(0,i) + 4 rate_j fresh(1,i), by arm and rate."""
        plain, weighed = self.fresh
        return (self.losses + plain + 4.0 * self.rates[:, None] * weighed).T

    @property
    def columns(self) -> RateColumns:
        """The same arrays as the learners have them."""
        logs = self.log_prior, self.log_weight
        parts = self.losses, self.fresh, self.levels, self.offsets, self.merged
        return RateColumns(*parts, self.rates, *logs)

    def merge(self) -> int:
        """Fill levels and offsets."""
        merge(self.columns)
        return int(self.merged[0])

    def logs(self, y: Floats) -> Floats:
        """ln of the sum over all columns of pi(i) w_j exp(rate_j (y_i - L(i,j)))."""
        exponents = self.log_weight + self.rates * (y[:, None] - self.literal)
        return self.log_prior + np.logaddexp.reduce(exponents, axis=1)

    def logs_by_rows(self, merged: int, y: Floats) -> Floats:
        """The same from levels and offsets, whose first row stands for the merged columns."""
        rows = self.size - merged + 1
        rates = self.rates[merged - 1 :, None]
        losses = self.levels[:rows] + self.fresh[PLAIN] + 4.0 * rates * self.fresh[WEIGHED]
        return np.logaddexp.reduce(self.offsets[:rows] + rates * (y - losses), axis=0)


@SEEDS
def test_losses_are_what_the_formula_says(seed: int) -> None:
    """`cumulative` and, after `settle`, the losses alone; nothing is fresh then."""
    table = Table(seed)
    before = table.literal
    np.testing.assert_allclose(
        cumulative(table.losses, table.fresh, table.rates), before, rtol=1e-14
    )
    settle(table.columns)
    assert (table.fresh == 0.0).all()
    np.testing.assert_allclose(table.losses.T, before, rtol=1e-14)
    np.testing.assert_array_equal(
        cumulative(table.losses, table.fresh, table.rates), table.losses.T
    )


@SEEDS
def test_merged_columns_act_as_one(seed: int) -> None:
    """The sum over the rows equals that over all columns, at any multiplier."""
    table = Table(seed)
    merged = table.merge()
    assert merged == equal_rates(table.rates) == (table.rates == table.rates[0]).sum()
    rng = np.random.default_rng([seed, 1])
    for _ in range(5):
        y = table.literal.min(axis=1) + rng.normal(size=table.arms) / table.rates.max()
        np.testing.assert_allclose(
            table.logs_by_rows(merged, y), table.logs(y), rtol=1e-12, atol=1e-12
        )
    level = table.losses[:merged].min(axis=0)
    np.testing.assert_array_equal(table.levels[0], level)


@SEEDS
def test_one_arm_is_merged_as_all_are(seed: int) -> None:
    """After a change of one arm's losses, `merge_arm` does what `merge` would, to that arm only."""
    table = Table(seed)
    merged = table.merge()
    arm = seed % table.arms
    table.losses[:, arm] += np.random.default_rng([seed, 2]).random(table.size)
    levels, offsets = table.levels.copy(), table.offsets.copy()
    parts = table.losses, table.log_prior, table.log_weight
    merge_arm(*parts, table.rates[0], merged, levels, offsets, arm)
    others = np.arange(table.arms) != arm
    np.testing.assert_array_equal(levels[:, others], table.levels[:, others])
    np.testing.assert_array_equal(offsets[:, others], table.offsets[:, others])
    table.merge()
    np.testing.assert_array_equal(levels, table.levels)
    np.testing.assert_array_equal(offsets, table.offsets)


@SEEDS
def test_a_row_is_the_square_of_the_next_one(seed: int) -> None:
    """Rates that halve: a weight from the slower row's, its ratio and the fresh weighed sum."""
    table = Table(seed)
    merged = table.merge()
    rates, ratios = table.rates[merged - 1 :], np.full(table.offsets.shape, np.nan)
    usable = chain(rates, table.levels, table.offsets, ratios)
    if table.size - merged < 2:
        return  # there is no row between the first and the last
    if not usable:
        sizes = [
            chain_arm(rates, table.levels, table.offsets, ratios, i) for i in range(table.arms)
        ]
        assert not all(sizes)
        return
    plain, weighed = table.fresh
    y = table.literal.min()

    def logs(r: int) -> Floats:
        loss = table.levels[r] + plain + 4.0 * rates[r] * weighed
        return table.offsets[r] + rates[r] * (y - loss)

    for r in range(1, len(rates) - 1):
        squared = 2.0 * logs(r + 1) + np.log(ratios[r]) - 8.0 * rates[r + 1] ** 2 * weighed
        np.testing.assert_allclose(squared, logs(r), rtol=1e-10, atol=1e-9)


@SEEDS
def test_unmerged_columns_are_all_there(seed: int) -> None:
    """Every column by itself, the fresh sums at the rates under which they were learned."""
    table = Table(seed)
    unmerged(table.columns, table.fresh, table.levels, table.offsets)
    np.testing.assert_allclose(table.levels.T, table.literal, rtol=1e-14)
    shares = table.log_prior + table.log_weight[:, None]
    np.testing.assert_allclose(table.offsets, shares, rtol=1e-14)


@SEEDS
def test_weights_of_an_arm_are_spread_over_its_rates(seed: int) -> None:
    """In proportion to w_j exp(rate_j (y - L(i,j))), however far y is, with sum q."""
    table = Table(seed)
    p = np.empty(table.size)
    for y in (0.0, 1e3, -1e5):
        exponents = table.log_weight + table.rates * (y - table.literal[0])
        share = np.exp(exponents - np.logaddexp.reduce(exponents))
        spread_over_rates(
            np.ascontiguousarray(table.literal[0]), table.log_weight, table.rates, y, 0.3, p
        )
        np.testing.assert_allclose(p, 0.3 * share, rtol=1e-9, atol=1e-300)
        assert p.sum() == pytest.approx(0.3, rel=1e-14)
