"""Random draws of arms, one at a time and from plain Python, as the service makes them.

The stream is that of `random_stream`, number for number. That one is written for compiled
code; called singly from Python its arithmetic on numpy's 64-bit words takes four times as long.
"""

from collections.abc import Sequence

import numpy as np

from belated.numerics.random_stream import UNIT, seeded

ALL = 2**64 - 1


class Draws:
    """A stream of random numbers (xoshiro256++), and arms drawn with it."""

    def __init__(self, seed: int | np.random.SeedSequence | None) -> None:
        self._words: list[int] = seeded(seed).tolist()

    def uniform(self) -> float:
        """A uniform double in [0, 1), from the upper 53 bits of the next word."""
        zero, one, two, three = self._words
        total = (zero + three) & ALL
        word = (((total << 23) | (total >> 41)) + zero) & ALL
        two ^= zero
        three ^= one
        shifted = (one << 17) & ALL
        self._words = [zero ^ three, one ^ two, two ^ shifted, (three << 45 | three >> 19) & ALL]
        return float(word >> 11) * UNIT

    def arm(self, weights: Sequence[float]) -> int:
        """An arm drawn with these probabilities, by inversion; never one with probability zero."""
        target, last = self.uniform(), 0
        for arm, weight in enumerate(weights):
            if weight > 0.0:
                last = arm
                target -= weight
                if target < 0.0:
                    return arm
        return last
