"""The environment: the oblivious adversary, which fixes every loss and delay before the game.

An environment is a loss process and a delay process over the same rounds and arms. It delivers them
in blocks of consecutive rounds, each drawn when it is needed, so that no array of all rounds and
arms is ever held. The same seed gives the same game, however many learners play it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ROUNDS, as_count, checked_prior
from belated.environments.missing import NEVER

Random = np.random.Generator

BLOCK_ENTRIES = 2**17  # about a megabyte of losses: much for Python, little for a cache
BLOCK_ROUNDS = 2**14


@dataclass(frozen=True)
class Span:
    """A stretch of consecutive rounds: `first` counts from 0, and the game has `rounds` in all."""

    first: int
    count: int
    rounds: int

    @property
    def index(self) -> Counts:
        """The 0-based rounds of the span."""
        return np.arange(self.first, self.first + self.count)


class LossProcess(Protocol):
    """Losses in [0, 1] of all arms; `random` is False if they are the same for every seed.

    A sampler is called with the spans of one game in order, from the first round on, and answers
    each with an array of shape (count, arms).
    """

    @property
    def arms(self) -> int: ...

    @property
    def random(self) -> bool: ...

    def sampler(self, random: Random) -> Callable[[Span], Floats]: ...


class DelayProcess(Protocol):
    """Delays of at least 0, or NEVER. Its sampler is called with each span and its losses."""

    @property
    def random(self) -> bool: ...

    def sampler(self, random: Random) -> Callable[[Span, Floats], Counts]: ...


class Block(NamedTuple):
    """The losses and delays of a span, arrays of shape (count, arms)."""

    span: Span
    losses: Floats
    delays: Counts


@dataclass(frozen=True)
class Environment:
    """Losses and delays of `rounds` rounds for labelled arms.

    `shows` says in one sentence what one sees by playing it. `prior` is the pi that learners with
    a prior start from, uniform if None.
    """

    name: str
    losses: LossProcess
    delays: DelayProcess
    rounds: int
    labels: Sequence[str] = ()
    shows: str = ""
    prior: Sequence[float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", as_count(self.rounds, "rounds", 1, MOST_ROUNDS))
        labels = tuple(map(str, self.labels)) or tuple(str(i + 1) for i in range(self.arms))
        if len(labels) != self.arms:
            raise ValueError(
                f"there are {len(labels)} labels; there must be one for each of {self.arms} arms"
            )
        object.__setattr__(self, "labels", labels)
        if self.prior is not None:
            object.__setattr__(self, "prior", checked_prior(self.prior, self.arms))

    @property
    def arms(self) -> int:
        """K."""
        return self.losses.arms

    @property
    def random(self) -> bool:
        """Whether two seeds can give two different games."""
        return self.losses.random or self.delays.random

    def spans(self) -> Iterator[Span]:
        """The rounds in stretches whose losses fit a cache."""
        size = max(1, min(BLOCK_ROUNDS, BLOCK_ENTRIES // self.arms))
        for first in range(0, self.rounds, size):
            yield Span(first, min(size, self.rounds - first), self.rounds)

    def blocks(self, seed: np.random.SeedSequence) -> Iterator[Block]:
        """The whole game that this seed gives, block after block."""
        draw_losses = self.losses.sampler(np.random.default_rng(branch(seed, 0)))
        draw_delays = self.delays.sampler(np.random.default_rng(branch(seed, 1)))
        for span in self.spans():
            losses = draw_losses(span)
            block = Block(span, losses, draw_delays(span, losses))
            self._check(block)
            yield block

    def _check(self, block: Block) -> None:
        """Compiled code trusts these shapes and values, whoever wrote the processes."""
        span, shape = block.span, (block.span.count, self.arms)
        for name, table in (("losses", block.losses), ("delays", block.delays)):
            if table.shape != shape:
                raise ValueError(
                    f"{name} of rounds {span.first + 1} to {span.first + span.count} have the "
                    f"shape {table.shape}; there must be one for each round and arm, {shape}"
                )
        if block.delays.min() < NEVER:
            raise ValueError(
                f"a delay is {block.delays.min()}; it must be at least 0, or {NEVER} for never"
            )


def branch(seed: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    """A seed of its own for one purpose; unlike `spawn`, the same however often it is asked for."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, number))
