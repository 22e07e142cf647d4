"""The confidence sequence: at every look, with late outcomes, and its bets from the past alone."""

import math

import numpy as np
import pytest

from belated.arrays import Floats
from belated.evaluation.betting import betting_interval, betting_sequence, known_from
from belated.evaluation.bootstrap import drawn_counts, percentile_interval


def refuted_literally(values: Floats, m: float) -> bool:
    """Whether K+ of the paper ever reached 2 / delta, told at once, in the words of the formula."""
    capital, total, squares = 1.0, 0.0, 0.0
    for t, z in enumerate(values, 1):
        v = (0.25 + squares) / t  # (1/4 + sum) / ((t - 1) + 1)
        bet = math.sqrt(2.0 * math.log(2.0 / 0.05) / (v * t * math.log(t + 1)))
        capital *= 1.0 + (min(bet, 0.5 / m) if m else bet) * (z - m)
        if capital >= 2.0 / 0.05:
            return True
        total += z
        squares += (z - (0.5 + total) / (t + 1)) ** 2
    return False


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_formula(seed: int) -> None:
    """Its ends are the last values of the grid that the literal capital refutes."""
    random = np.random.default_rng(seed)
    weights = random.choice([0.0, 0.5, 4.0], 200, p=[0.5, 0.3, 0.2])
    rewards = (random.random(200) < 0.6).astype(np.float64)
    low, high = betting_interval(weights, rewards, np.arange(1, 201))
    for end, values in ((low, weights * rewards), (1.0 - high, weights * (1.0 - rewards))):
        assert end == 0.0 or refuted_literally(values, end)
        assert not refuted_literally(values, round(end + 0.001, 3))


def test_more_rows_never_widen_it() -> None:
    """Each look keeps what the looks before have refuted; the last one is the interval."""
    random = np.random.default_rng(5)
    rewards = (random.random(500) < 0.4).astype(np.float64)
    weights, first = np.ones(500), np.arange(1, 501)
    lows, highs = betting_sequence(weights, rewards, first, np.arange(1, 501, 20))
    assert (np.diff(lows) >= 0.0).all()
    assert (np.diff(highs) <= 0.0).all()
    assert lows[-1] > 0.25
    assert highs[-1] < 0.55


def test_what_is_not_told_only_widens_it() -> None:
    """Both ends are at least as far apart as if everything were known, whatever it would be."""
    random = np.random.default_rng(6)
    rewards = (random.random(400) < 0.5).astype(np.float64)
    delays = random.exponential(50.0, 400)
    played = np.arange(400.0)
    told = played + delays <= 400.0
    weights = np.ones(400)
    first = known_from(played, np.where(told, delays, np.nan))
    low, high = betting_interval(weights, np.where(told, rewards, np.nan), first)
    for rest in (0.0, 1.0):
        filled = np.where(told, rewards, rest)
        apart = betting_interval(weights, filled, first)
        assert low <= apart.low + 0.02
        assert high >= apart.high - 0.02


def test_an_outcome_counts_from_the_row_after_its_arrival() -> None:
    """At once is before the next row; never is after the last."""
    played = np.array([1.0, 2.0, 3.0, 4.0])
    delays = np.array([0.0, 1.5, np.nan, 0.0])
    assert known_from(played, delays).tolist() == [1, 3, 4, 4]


def test_a_bet_does_not_know_the_row_that_it_is_on() -> None:
    """Changing the last outcome changes nothing that earlier looks have said."""
    random = np.random.default_rng(9)
    rewards = (random.random(100) < 0.3).astype(np.float64)
    other = np.r_[rewards[:-1], 1.0 - rewards[-1]]
    looks = np.arange(10, 100)
    found = [
        betting_sequence(np.ones(100), each, np.arange(1, 101), looks) for each in (rewards, other)
    ]
    assert (found[0][0] == found[1][0]).all()
    assert (found[0][1] == found[1][1]).all()


def test_draws_of_the_bootstrap() -> None:
    """Each draws as many rows as there are; the interval leaves out as much on either side."""
    counts = np.concatenate(list(drawn_counts(50, 7, np.random.default_rng(0))))
    assert counts.shape == (7, 50)
    assert (counts.sum(axis=1) == 50).all()
    assert percentile_interval(np.arange(1.0, 100.0), 0.9) == pytest.approx((5.0, 95.0))
    assert np.isnan(percentile_interval([1.0]).low)
