"""Draw the whole game of an environment."""

import numpy as np

from belated.arrays import Counts, Floats
from belated.environments.environment import Environment


def drawn(environment: Environment, seed: int = 1) -> tuple[Floats, Counts]:
    """All losses and delays of the game of a seed, of shape (round, arm)."""
    blocks = list(environment.blocks(np.random.SeedSequence(seed)))
    losses = np.concatenate([block.losses for block in blocks])
    return losses, np.concatenate([block.delays for block in blocks])
