"""GP-BUCB written out literally: a Gaussian process over the list of all plays, solved anew."""

import math
from dataclasses import dataclass, field

import numpy as np

from belated.arrays import Floats


@dataclass
class GpBucbTwin:
    """A game: arms at `places`, scaled to [0, 1], and a list of plays with their rewards."""

    places: Floats
    length: float = 0.2
    inflation: float | None = None
    delta: float = 0.05
    plays: list[tuple[int, float | None]] = field(default_factory=list)

    def kernel(self, one: int, other: int) -> float:
        distance = float(((self.places[one] - self.places[other]) ** 2).sum())
        return 0.25 * math.exp(-distance / (2.0 * self.length**2))

    def posterior(self, arm: int, plays: list[tuple[int, float | None]]) -> tuple[float, float]:
        """The mean and the variance of an arm's reward, given plays with noise of variance 1/4."""
        if not plays:
            return 0.5, self.kernel(arm, arm)
        matrix = np.array([[self.kernel(i, j) for j, _ in plays] for i, _ in plays])
        matrix += 0.25 * np.eye(len(plays))
        row = np.array([self.kernel(arm, i) for i, _ in plays])
        rewards = np.array([0.0 if reward is None else reward - 0.5 for _, reward in plays])
        mean = 0.5 + row @ np.linalg.solve(matrix, rewards)
        return float(mean), float(self.kernel(arm, arm) - row @ np.linalg.solve(matrix, row))

    def index(self) -> Floats:
        """The mean from told plays plus sqrt(beta) times the deviation from all plays."""
        arms = range(len(self.places))
        told = [each for each in self.plays if each[1] is not None]
        known = [self.posterior(arm, told) for arm in arms]
        doubtful = [self.posterior(arm, self.plays)[1] for arm in arms]
        c = self.inflation
        if c is None:
            c = max(0.5 * math.log(known[a][1] / doubtful[a]) for a in arms)
        t = len(told) + 1
        alpha = 2.0 * math.log(len(arms) * t**2 * math.pi**2 / (6.0 * self.delta))
        width = math.sqrt(math.exp(2.0 * c) * alpha)
        return np.array([known[a][0] + width * math.sqrt(doubtful[a]) for a in arms])

    def ask(self) -> Floats:
        index = self.index()
        best = index >= index.max() - 1e-10
        q: Floats = best / best.sum()
        return q
