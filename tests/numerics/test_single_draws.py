"""Draws in plain Python are those of the compiled stream, number for number."""

import numpy as np
import pytest

from belated.numerics.random_stream import draw, seeded, uniform
from belated.numerics.single_draws import Draws

SEEDS = (0, 7, 2**63)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_stream_is_the_same(seed: int) -> None:
    """Over many words, whatever the seed."""
    draws, stream = Draws(seed), seeded(seed)
    assert [draws.uniform() for _ in range(500)] == [uniform(stream) for _ in range(500)]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_arms_are_the_same(seed: int) -> None:
    """Also where some arms have no probability, and where the sum is a little below one."""
    draws, stream, random = Draws(seed), seeded(seed), np.random.default_rng(seed)
    for _ in range(300):
        weights = random.dirichlet(np.full(6, 0.3)) * (random.random(6) < 0.8)
        weights[2] += 0.999 - weights.sum()
        assert draws.arm(weights.tolist()) == draw(stream, weights)


def test_an_arm_without_probability_is_never_drawn() -> None:
    """Not even if the others do not sum to one."""
    draws = Draws(1)
    assert {draws.arm([0.0, 1e-9, 0.0]) for _ in range(100)} == {1}
