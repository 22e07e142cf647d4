"""The seeds of a comparison: one for each repetition, with a branch for its game and its draws."""

import numpy as np

GAME, DRAWS = 0, 1


def repetition_seed(seed: int, repetition: int) -> np.random.SeedSequence:
    """Return the seed of one repetition; it does not depend on the number of repetitions."""
    return np.random.SeedSequence(seed, spawn_key=(repetition,))
