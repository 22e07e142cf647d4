"""Loss processes that change in phases or blocks of rounds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from belated.arrays import Floats
from belated.checks import MOST_ROUNDS, as_count, in_order
from belated.environments.environment import Random, Span
from belated.environments.losses import Draw, as_arm_count, coins_are_random, flip_coins
from belated.environments.parameters import as_chance, between, each_arm, set_fields


@dataclass(frozen=True)
class Switching:
    """Losses of 0 and 1 whose means change every `length` rounds.

    Each row of `phases` has the mean of every arm in one phase. The phases follow one another, and
    the last is followed by the first.
    """

    phases: Sequence[Sequence[float]]
    length: int

    def __post_init__(self) -> None:
        table = self.phases
        rows = in_order(table.tolist() if isinstance(table, np.ndarray) else table)
        if not rows:
            raise ValueError(
                f"phases is {self.phases!r}; it must be a list with the means of each phase"
            )
        phases = tuple(
            each_arm(row, f"the mean in phase {n}", as_chance) for n, row in enumerate(rows, 1)
        )
        for n, row in enumerate(phases, 1):
            if len(row) != len(phases[0]):
                raise ValueError(
                    f"phase {n} has {len(row)} arms; it must have {len(phases[0])}, like phase 1"
                )
        set_fields(self, phases=phases, length=as_length(self.length))

    @property
    def arms(self) -> int:
        return len(self.phases[0])

    @property
    def random(self) -> bool:
        return any(map(coins_are_random, self.phases))

    def sampler(self, random: Random) -> Draw:
        phases = np.array(self.phases)

        def draw(span: Span) -> Floats:
            phase = span.index // self.length % len(phases)
            return flip_coins(random, phases.take(phase, axis=0), span)

        return draw


@dataclass(frozen=True)
class ConstrainedAdversary:
    """The stochastically constrained adversary of Zimmert and Seldin (2021).

    The gap between the best arm (the last one) and the others is constant, but the level is not:
    (best, other) have means (1 - gap, 1) in one phase and (0, gap) in the next. Phase n takes
    floor(growth^n) rounds, n = 1, 2, ...
    """

    arms: int
    gap: float = 0.125
    growth: float = 1.6

    def __post_init__(self) -> None:
        gap, growth = as_chance(self.gap, "gap"), between(1.01, 1000.0)(self.growth, "growth")
        set_fields(self, arms=as_arm_count(self.arms), gap=gap, growth=growth)

    @property
    def random(self) -> bool:
        return coins_are_random((self.gap,))

    def sampler(self, random: Random) -> Draw:
        levels = np.array([[1.0] * self.arms, [self.gap] * self.arms])
        levels[:, -1] = 1.0 - self.gap, 0.0
        ends = np.array(self._phase_ends())

        def draw(span: Span) -> Floats:
            phase = np.searchsorted(ends, span.index, side="right")
            return flip_coins(random, levels.take(phase % 2, axis=0), span)

        return draw

    def _phase_ends(self) -> list[int]:
        ends = [math.floor(self.growth)]
        while ends[-1] < MOST_ROUNDS:
            ends.append(ends[-1] + math.floor(self.growth ** (len(ends) + 1)))
        return ends


@dataclass(frozen=True)
class BlockConstant:
    """Blocks of `length` rounds with equal losses, which are fair coin flips of 0 and 1.

    With a constant delay of length - 1 no learner can learn anything useful, and all have the same
    expected regret: length (n/2 - E min of K Bin(n, 1/2)) over n whole blocks. A learner that does
    better uses losses before they have arrived.
    """

    arms: int
    length: int

    random = True

    def __post_init__(self) -> None:
        set_fields(self, arms=as_arm_count(self.arms), length=as_length(self.length))

    def sampler(self, random: Random) -> Draw:
        last = np.zeros((1, self.arms))

        def draw(span: Span) -> Floats:
            nonlocal last
            begun = -(-span.first // self.length)  # blocks with a round before the span
            blocks = span.index // self.length
            fresh = random.random((int(blocks[-1]) + 1 - begun, self.arms)) < 0.5
            vectors = np.concatenate([last, fresh])
            last = vectors[-1:].copy()
            return vectors.take(blocks - begun + 1, axis=0)

        return draw


@dataclass(frozen=True)
class RotatingLeaders:
    """Each arm in turn has loss 0 for `length` rounds, while all others have loss 1."""

    arms: int
    length: int

    random = False

    def __post_init__(self) -> None:
        set_fields(self, arms=as_arm_count(self.arms), length=as_length(self.length))

    def sampler(self, random: Random) -> Draw:
        def draw(span: Span) -> Floats:
            losses = np.ones((span.count, self.arms))
            leaders = span.index // self.length % self.arms
            losses[np.arange(span.count), leaders] = 0.0
            return losses

        return draw


def as_length(length: int) -> int:
    """Check the number of rounds of a phase or block."""
    return as_count(length, "length", 1, MOST_ROUNDS)
