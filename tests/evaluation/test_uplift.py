"""The uplift's interval against a literal twin, its side conditions, and its coverage."""

import math

import numpy as np
import pytest

from belated.evaluation.uplift import RATES, half_width, intervals, scores


def capital(deviation: float, squares: float, share: float) -> float:
    """The mixture of supermartingales, written out as in the paper."""
    scale = max(1.0 / share, 1.0 / (1.0 - share))
    total = 0.0
    for place in range(1, RATES + 1):
        rate = 0.5**place / scale
        psi = (-math.log(1.0 - scale * rate) - scale * rate) / scale**2
        total += math.exp(rate * deviation - psi * squares) / (place * (place + 1))
    return total


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.9])
def test_the_ends_are_where_the_capital_reaches_the_limit(share: float) -> None:
    """Ville: beyond, the chance is below delta / 2 on each side."""
    for squares, count in ((0.0, 1), (40.0, 30), (1e5, 20_000)):
        half = float(half_width(np.array([squares]), np.array([count]), share)[0])
        assert capital(half * count, squares, share) == pytest.approx(40.0, rel=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_each_factor_is_a_supermartingale(share: float) -> None:
    """Exactly, for one decision with every mix of rewards: the mean of a factor is 1 at most."""
    scale = 1.0 / min(share, 1.0 - share)
    for treated, control, baseline in ((0.3, 0.3, 0.5), (1.0, 0.0, 0.9), (0.0, 1.0, 0.0)):
        draws = [
            (share * chance, -(reward - baseline) / share)
            for reward, chance in ((1.0, control), (0.0, 1.0 - control))
        ] + [
            ((1.0 - share) * chance, (reward - baseline) / (1.0 - share))
            for reward, chance in ((1.0, treated), (0.0, 1.0 - treated))
        ]
        mean = sum(chance * z for chance, z in draws)
        assert mean == pytest.approx(treated - control)
        assert max(abs(z) for _, z in draws) <= scale * (1.0 + 1e-12)
        for rate in (0.5 / scale, 0.1 / scale):
            psi = (-math.log(1.0 - scale * rate) - scale * rate) / scale**2
            for sign in (1.0, -1.0):
                factor = sum(
                    chance * math.exp(sign * rate * (z - mean) - psi * z * z) for chance, z in draws
                )
                assert factor <= 1.0 + 1e-12


def test_scores_use_only_what_was_before() -> None:
    """A later reward changes no earlier score; without decisions there are none."""
    control = np.array([True, False, False, True])
    first = scores(control, np.array([1.0, 0.0, 1.0, 0.0]), 0.25)
    assert first.tolist() == pytest.approx([-0.5 * 4, -0.75 / 0.75, 0.5 / 0.75, 0.625 * 4])
    other = scores(control, np.array([1.0, 0.0, 0.0, 1.0]), 0.25)
    assert first[:2].tolist() == other[:2].tolist()
    assert scores(control[:0], np.empty(0), 0.25).size == 0


def test_it_covers_a_changing_uplift_at_every_look() -> None:
    """The mean of what treating each decision adds, which goes from below 0 to above it."""
    missed, number, share = 0, 4000, 0.3
    truth = np.cumsum(np.linspace(-0.2, 0.4, number)) / np.arange(1, number + 1)
    looks = np.arange(10, number + 1, 10)
    for seed in range(100):
        random = np.random.default_rng(seed)
        control = random.random(number) < share
        rate = 0.4 + np.where(control, 0.0, np.linspace(-0.2, 0.4, number))
        z = scores(control, (random.random(number) < rate).astype(np.float64), share)
        _, low, high = intervals(z, looks, share)
        missed += bool(((truth[looks - 1] < low) | (truth[looks - 1] > high)).any())
    assert missed <= 5
    assert float(high[-1] - low[-1]) < 0.25
