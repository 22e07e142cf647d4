"""The account of a game equals what one adds up by hand from all its losses and delays."""

import numpy as np
import pytest

from belated.environments.missing import NEVER, missing_counts
from belated.simulation.accounts import LEVELS, account
from tests.simulation.test_engine import given, random_game


@pytest.mark.parametrize(("rounds", "arms", "longest"), [(1, 1, 0), (37, 1, 5), (500, 4, 60)])
def test_all_sums(rounds: int, arms: int, longest: int) -> None:
    """L_T, L_T^rho, missing counts, rho^max and what was charged under each."""
    losses, delays = random_game(rounds, rounds, arms, longest)
    sums = account(given(losses, delays))
    missing = missing_counts(delays)
    np.testing.assert_allclose(sums.losses, losses.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(sums.missing_losses, (missing * losses).sum(axis=0), rtol=1e-12)
    assert np.array_equal(sums.most_missing, missing.max(axis=0))
    np.testing.assert_allclose(sums.mean_missing, missing.mean(axis=0), rtol=1e-12)
    assert sums.max_missing == missing.max()
    highest = np.maximum.accumulate(missing.max(axis=1))
    assert sums.caps is not None
    assert sums.charged is not None
    assert np.array_equal(sums.caps, np.unique(highest))
    for cap, charged in zip(sums.caps, sums.charged, strict=True):
        rows = highest == cap
        expected = ((1 + missing[rows]) * losses[rows]).sum(axis=0)
        np.testing.assert_allclose(charged, expected, rtol=1e-12)
    for checkpoint, at in zip(sums.checkpoints, sums.losses_at, strict=True):
        np.testing.assert_allclose(at, losses[:checkpoint].sum(axis=0), rtol=1e-12)


def test_delays_by_arm() -> None:
    """A loss that is not known by the end of the game counts as never known."""
    _, delays = random_game(3, 400, 3, 30)
    known = delays.astype(float)
    known[(delays == NEVER) | (np.arange(400)[:, None] + delays >= 400)] = np.inf
    found = account(given(np.zeros((400, 3)), delays)).delays
    assert found.sampled == 400
    for i in range(3):
        column = np.sort(known[:, i])
        finite = column[np.isfinite(column)]
        assert found.mean[i] == pytest.approx(finite.mean())
        assert found.never[i] == pytest.approx(np.isinf(column).mean())
        for level, quantile in zip(LEVELS, found.quantiles[:, i], strict=True):
            assert quantile == column[int(np.ceil(level * 400)) - 1]


def test_a_sample_of_the_rounds_will_do_for_long_games() -> None:
    """Periodic delays of a long game are sampled without favour for any phase."""
    rounds, arms, period = 20_000, 100, 64
    delays = np.broadcast_to(np.arange(rounds)[:, None] % period, (rounds, arms))
    found = account(given(np.zeros((rounds, arms)), delays)).delays
    assert 0 < found.sampled < rounds
    assert found.mean[0] == pytest.approx((period - 1) / 2, rel=0.02)
