"""The missing counts rho_t(i) against their definition."""

import numpy as np
import pytest

from belated.environments.missing import NEVER, missing_counts


def literal_missing(delays: list[list[int]], t: int, arm: int) -> int:
    """rho_t(i) = |{s < t : s + d_s(i) >= t}|, with rounds from 1, and NEVER for an infinite d."""
    missing = 0
    for s in range(1, t):
        delay = delays[s - 1][arm]
        missing += delay == NEVER or s + delay >= t
    return missing


@pytest.mark.parametrize("seed", range(40))
def test_missing_counts_are_the_definition(seed: int) -> None:
    """Random delays, short and long; some end far after the game and some never."""
    rng = np.random.default_rng(seed)
    rounds, arms = int(rng.integers(1, 30)), int(rng.integers(1, 5))
    delays = rng.integers(0, int(rng.integers(1, 40)), (rounds, arms))
    delays[rng.random((rounds, arms)) < 0.2 * rng.random()] = NEVER
    delays[rng.random((rounds, arms)) < 0.1] = 2**62
    counts = missing_counts(delays)
    for t in range(1, rounds + 1):
        assert counts[t - 1].tolist() == [
            literal_missing(delays.tolist(), t, arm) for arm in range(arms)
        ]


def test_prompt_losses_are_never_missing_and_lost_ones_always() -> None:
    """A loss of delay 0 is never missing; one that never arrives is missing in all later rounds."""
    delays = np.array([[0, NEVER, 1]] * 6)
    assert missing_counts(delays).tolist() == [[0, t, min(t, 1)] for t in range(6)]
