"""The probability that a normal value is the largest: against another integral, and draws."""

import contextlib

import numpy as np
import pytest
from scipy.special import ndtr

from belated.arrays import Floats
from belated.learners.contextual.normal_chances import fill_largest, working_space
from tests.twins.normal_chances import chances_to_be_largest

CLOSE = 3e-7  # what the docstring and docs/contexts.md claim


def chances(means: Floats, deviations: Floats, eligible: Floats | None = None) -> Floats:
    q = np.full(means.size, np.nan)
    allowed = np.ones(means.size) if eligible is None else eligible
    fill_largest(means, deviations, allowed, working_space(means.size), q)
    return q


@pytest.mark.parametrize("seed", range(20))
def test_chances_are_those_of_another_integral(seed: int) -> None:
    """For up to eight arms, whose deviations differ by up to a factor of 10,000."""
    random = np.random.default_rng(seed)
    arms = int(random.integers(2, 9))
    means = random.normal(size=arms) * 10.0 ** random.uniform(-3.0, 0.0)
    deviations = 10.0 ** random.uniform(-4.0, 0.0, size=arms)
    expected = chances_to_be_largest(means, deviations)
    np.testing.assert_allclose(chances(means, deviations), expected, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("gap", [0.0, 0.01, -0.4, 1.0, 5.0])
def test_two_arms_have_a_closed_form(gap: float) -> None:
    """q_1 = Phi((f_1 - f_2)/sqrt(sd_1^2 + sd_2^2))."""
    q = chances(np.array([0.3 + gap, 0.3]), np.array([0.5, 0.2]))
    first = ndtr(gap / np.hypot(0.5, 0.2))
    np.testing.assert_allclose(q, [first, 1.0 - first], rtol=0, atol=CLOSE)


def test_chances_are_the_frequencies_of_a_million_draws() -> None:
    random = np.random.default_rng(8)
    means, deviations = np.array([0.5, 0.4, 0.55, 0.1]), np.array([0.1, 0.3, 0.05, 0.2])
    drawn = means + deviations * random.normal(size=(1_000_000, 4))
    seen = np.bincount(drawn.argmax(axis=1), minlength=4) / 1_000_000
    q = chances(means, deviations)
    assert (np.abs(q - seen) <= 4.0 * np.sqrt(q * (1.0 - q) / 1e6)).all()


def test_arms_left_out_have_no_chance_and_change_no_other() -> None:
    means, deviations = np.array([0.5, 9.0, 0.4]), np.array([0.1, 0.1, 0.3])
    q = chances(means, deviations, np.array([1.0, 0.0, 1.0]))
    np.testing.assert_array_equal(q[[0, 2]], chances(means[[0, 2]], deviations[[0, 2]]))
    assert q[1] == 0.0


def test_one_arm_and_arms_far_behind() -> None:
    assert chances(np.array([0.2]), np.array([0.1])).tolist() == [1.0]
    assert chances(np.array([0.2, 5.0]), np.array([0.1, 0.1])).tolist() == [0.0, 1.0]
    assert chances(np.array([0.2, 0.2]), np.array([0.0, 0.0])).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("mean", [1e9, 1e100, -1e100, 1e308])
@pytest.mark.parametrize("deviation", [0.0, 1.0, 1e100])
def test_numbers_of_any_size_come_to_an_end(mean: float, deviation: float) -> None:
    """Also where the nodes cannot come below the lower end, since rounding is coarser."""
    q = chances(np.array([mean, mean]), np.array([deviation, deviation]))
    np.testing.assert_allclose(q, 0.5, rtol=0, atol=CLOSE)


def test_what_is_no_number_comes_to_an_end() -> None:
    for wrong in (np.nan, np.inf):
        with np.errstate(all="ignore"), contextlib.suppress(ZeroDivisionError):
            q = chances(np.array([wrong, 0.0]), np.array([0.1, wrong]))
            assert not np.isfinite(q).all()
