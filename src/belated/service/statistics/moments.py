"""Count, mean and variance of a number by arm, and arrays that grow with the arms."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Counts, Floats


class Moments(NamedTuple):
    """Count, mean and sum of squared deviations of a number, by arm (Welford)."""

    number: Counts
    mean: Floats
    squares: Floats

    @classmethod
    def of_nothing(cls, arms: int) -> "Moments":
        """The moments of no numbers at all."""
        return cls(np.zeros(arms, dtype=np.int64), np.zeros(arms), np.zeros(arms))

    def with_room(self, arms: int) -> "Moments":
        """These moments with room for more arms, which have no numbers yet."""
        return Moments(*(widened(part, arms) for part in self))

    def add(self, arm: int, value: float) -> None:
        """Add a number of an arm; computed with plain numbers, which takes half the time."""
        number, before = self.number.item(arm) + 1, self.mean.item(arm)
        from_mean = value - before
        mean = before + from_mean / number
        self.number[arm], self.mean[arm] = number, mean
        self.squares[arm] = self.squares.item(arm) + from_mean * (value - mean)

    def sums(self) -> tuple[Floats, Floats]:
        """The sums of the numbers and of their squares, by arm."""
        return self.number * self.mean, self.squares + self.number * self.mean**2

    def shown(self, arm: int) -> dict[str, Any]:
        """Count, mean, variance and half the width of the 95 % confidence interval of the mean."""
        count = int(self.number[arm])
        if count == 0:
            return {"count": 0, "mean": None, "variance": None, "half_width": None}
        variance = None if count < 2 else float(self.squares[arm]) / (count - 1)
        half = None if variance is None else 1.96 * math.sqrt(variance / count)
        mean = float(self.mean[arm])
        return {"count": count, "mean": mean, "variance": variance, "half_width": half}


def widened(part: NDArray[Any], arms: int) -> NDArray[Any]:
    """Numbers by arm, which are on the last axis, with zeros for new arms."""
    more = np.zeros((*part.shape[:-1], arms - part.shape[-1]), dtype=part.dtype)
    return np.concatenate([part, more], axis=-1)
