"""The argmin of the Tsallis regulariser against forty digits, from every guess."""

import math

import mpmath as mp
import numpy as np
import pytest

from belated.arrays import Floats
from belated.solvers.tsallis import solve_tsallis

pytestmark = pytest.mark.core

SPREADS = [0.0, 1e-9, 1e-3, 0.3, 1.0, 30.0, 1e6]


def exactly(values: Floats, b: float) -> Floats:
    """q_i = (b (h_i - y))^-2 with a sum of one, by Newton in forty digits, proven."""
    with mp.workdps(40):
        distances = [mp.mpf(b) * (mp.mpf(h) - mp.mpf(values.min())) for h in values.tolist()]
        z = mp.mpf(-1)
        for _ in range(60):
            roots = [1 / (x - z) for x in distances]
            total = mp.fsum(root**2 for root in roots)
            if abs(total - 1) < mp.mpf(10) ** -30:
                return np.array([float(root**2) for root in roots])
            z += total * (1 - mp.sqrt(total)) / mp.fsum(root**3 for root in roots)
    raise AssertionError("the reference has not converged")


def solved(values: Floats, b: float, guess: float) -> tuple[Floats, float, int]:
    """q, y and the passes."""
    q = np.full(values.size, np.nan)
    y, passes = solve_tsallis(values, b, guess, q)
    return q, y, passes


def random_values(random: np.random.Generator, arms: int, spread: float) -> Floats:
    """Even, in two heaps, or most of them near the least; around some other value than zero."""
    even = random.random(arms)
    shape = [even, np.floor(2.0 * even), even**8][int(random.integers(3))]
    return spread * shape + float(random.choice([0.0, -0.7, 5.0, 1e6]))


@pytest.mark.parametrize("arms", [1, 2, 3, 4, 5, 8, 33, 1000])
@pytest.mark.parametrize("log_b", [-3, -1, 0, 2, 4, 7])
def test_weights_match_forty_digits_from_any_guess(arms: int, log_b: int) -> None:
    """Spreads from none to a million: 1e-13, a sum of one, and few passes wherever it starts."""
    random = np.random.default_rng([arms, log_b + 3])
    b = 10.0**log_b
    for spread in SPREADS if arms < 1000 else random.choice(SPREADS, 2):
        values = random_values(random, arms, float(spread))
        expected = exactly(values, b)
        _, y, _ = solved(values, b, math.inf)
        far = [math.inf, -math.inf, math.nan, values.min() - 1e3, -1e300, 1e300, values.max()]
        for guess in [*far, y, y - 1e-3 / b, y + 1e-3 / b]:
            q, again, passes = solved(values, b, float(guess))
            np.testing.assert_allclose(q, expected, rtol=1e-11, atol=1e-13)
            assert abs(q.sum() - 1.0) <= 1e-12
            assert again == pytest.approx(y, rel=1e-9, abs=1e-9 / b)
            assert passes <= 8


def test_the_last_multiplier_saves_passes() -> None:
    """Near ties that move a little: about two passes from the last y, and the same weights."""
    random = np.random.default_rng(5)
    values, passes, cold_passes = 0.01 * random.random(30), 0, 0
    _, y, _ = solved(values, 1200.0, math.inf)
    for t in range(10_000, 10_300):
        values[random.integers(30)] += random.normal() * 1e-6
        b = 12.0 * math.sqrt(t)
        q, y, more = solved(values, b, y)
        cold, _, more_cold = solved(values, b, math.inf)
        np.testing.assert_allclose(q, cold, rtol=0, atol=1e-13)
        passes, cold_passes = passes + more, cold_passes + more_cold
    assert passes <= 2.3 * 300
    assert passes < 0.8 * cold_passes


def test_an_infinite_scale_of_distances_leaves_the_least_alone() -> None:
    """Distances beyond the range of a double are arms of weight zero, not an error."""
    q, _, _ = solved(np.array([0.0, 1.0, 1e300]), 1e300, math.inf)
    assert q.tolist() == [1.0, 0.0, 0.0]


def test_equal_values_share_evenly() -> None:
    """No arm is better: 1/K each, also where the values themselves are large."""
    for arms in (1, 4, 7, 100):
        q, _, _ = solved(np.full(arms, 1e6), 1e7, math.inf)
        np.testing.assert_allclose(q, 1.0 / arms, rtol=1e-13)
