"""Draw worlds and their games for tests."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.worlds import World, world


class Drawn(NamedTuple):
    """A world with the losses and delays of its first game, of shape (round, arm)."""

    world: World
    losses: Floats
    delays: Counts

    @property
    def rounds(self) -> Counts:
        """The 0-based rounds, as a column."""
        return np.arange(len(self.losses))[:, None]


def drawn(family: str, number: int, game: int = 0) -> Drawn:
    """A world and one of its games."""
    here = world(family, number)
    blocks = list(here.environment.blocks(here.seed(game)))
    losses = np.concatenate([block.losses for block in blocks])
    return Drawn(here, losses, np.concatenate([block.delays for block in blocks]))


def some(family: str, count: int = 3) -> Iterator[Drawn]:
    """Some worlds of a family."""
    return (drawn(family, number) for number in range(count))
