"""The laws of delays: against a library, against their formulas, and for repeated rows."""

import numpy as np
import pytest
from lifelines import KaplanMeierFitter

from belated.arrays import Floats
from belated.evaluation.delay_laws import KaplanMeier, LawAtAges, RightTruncated, median_delay


def rows(seed: int, count: int = 60) -> tuple[Floats, Floats]:
    """Delays, NaN where they are longer than the age, and ages; with ties."""
    random = np.random.default_rng(seed)
    ages = random.integers(0, 30, count).astype(np.float64)
    delays = random.integers(0, 25, count).astype(np.float64)
    return np.where(delays <= ages, delays, np.nan), ages


def truncated_literally(delays: Floats, ages: Floats, at: float) -> float:
    """F(at) = prod over v > at of (1 - n_v / N_v), in the words of the formula.

    A time v with n_v = N_v is passed over, unless no shorter delay was told at all.
    """
    told = ~np.isnan(delays)
    share = 1.0
    for v in np.unique(delays[told]):
        if v > at:
            n = (delays[told] == v).sum()
            at_risk = ((delays[told] <= v) & (v <= ages[told])).sum()
            if n < at_risk or v == delays[told].min():
                share *= 1.0 - n / at_risk
    return float(share)


def test_one_old_row_that_compares_with_none_does_not_decide_the_law() -> None:
    """Told after 50 of 60, while all other rows are 10 old: F(10) is not known, and not taken as 0.

    With F(10) = 0 every outcome of a row that is 10 old would count fifty times.
    """
    delays, ages = np.array([1.0, 1.0, 2.0, 50.0]), np.array([10.0, 10.0, 10.0, 60.0])
    law = LawAtAges.of(RightTruncated(delays, ages), np.array([0.0, 1.0, 10.0, 60.0]))
    assert law.chances(np.ones(4)) == pytest.approx([0.0, 2 / 3, 1.0, 1.0])


@pytest.mark.parametrize("seed", range(5))
def test_kaplan_meier_is_that_of_lifelines(seed: int) -> None:
    """At every age."""
    delays, ages = rows(seed)
    told = ~np.isnan(delays)
    fitted = KaplanMeierFitter().fit(np.where(told, delays, ages), told)
    chances = LawAtAges.of(KaplanMeier(delays, ages), ages).chances(np.ones(ages.size))
    assert chances == pytest.approx(1.0 - fitted.predict(ages).to_numpy(), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_truncated_law_is_its_formula(seed: int) -> None:
    """At every age, and before the first delay."""
    delays, ages = rows(seed)
    asked = np.r_[ages, -1.0, 100.0]
    chances = LawAtAges.of(RightTruncated(delays, ages), asked).chances(np.ones(ages.size))
    assert chances == pytest.approx([truncated_literally(delays, ages, age) for age in asked])


@pytest.mark.parametrize("kind", [KaplanMeier, RightTruncated])
def test_a_row_counted_twice_is_two_rows(kind: type[KaplanMeier | RightTruncated]) -> None:
    """So the bootstrap need not copy rows; and several draws at once are each by itself."""
    delays, ages = rows(7)
    counts = np.random.default_rng(8).integers(0, 4, (3, ages.size)).astype(np.float64)
    together = LawAtAges.of(kind(delays, ages), ages).chances(counts)
    for draw, count in enumerate(counts.astype(int)):
        copied = kind(np.repeat(delays, count), np.repeat(ages, count))
        apart = LawAtAges.of(copied, ages).chances(np.ones(count.sum()))
        assert together[draw] == pytest.approx(apart)


def test_the_truncated_law_is_right_where_kaplan_meier_is_not() -> None:
    """Zeros never come: F is the law of what comes, 1 - Kaplan-Meier the chance to come at all."""
    random = np.random.default_rng(3)
    ages = np.arange(20_000.0)[::-1]
    delays = random.exponential(1000.0, ages.size)
    delays[random.random(ages.size) < 0.5] = np.inf
    seen = np.where(delays <= ages, delays, np.nan)
    ones, at = np.ones(ages.size), np.array([1000.0])
    assert LawAtAges.of(RightTruncated(seen, ages), at).chances(ones) == pytest.approx(
        1.0 - np.exp(-1.0), abs=0.02
    )
    assert LawAtAges.of(KaplanMeier(seen, ages), at).chances(ones) == pytest.approx(
        0.5 * (1.0 - np.exp(-1.0)), abs=0.02
    )
    assert median_delay(seen, ages, ones) == pytest.approx(1000.0 * np.log(2.0), rel=0.05)


def test_nothing_told() -> None:
    """A law of nothing."""
    delays, ages = np.full(3, np.nan), np.arange(3.0)
    ones = np.ones(3)
    assert LawAtAges.of(KaplanMeier(delays, ages), ages).chances(ones).tolist() == [0.0] * 3
    assert LawAtAges.of(RightTruncated(delays, ages), ages).chances(ones).tolist() == [1.0] * 3
    assert np.isnan(median_delay(delays, ages, ones))
