"""Loss processes. The losses drawn do not depend on how the rounds are cut into spans.

For this, every round must take its random numbers after those of the previous round. A process that
draws two kinds of random numbers therefore has a random stream for each kind.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from belated.arrays import Floats
from belated.checks import MOST_ARMS, LossRange, as_count
from belated.environments.environment import LossProcess, Random, Span
from belated.environments.parameters import as_chance, between, each_arm, set_fields

Draw = Callable[[Span], Floats]


@dataclass(frozen=True)
class WithMeans:
    """The parameters of a loss process with one mean per arm."""

    means: Sequence[float]

    def __post_init__(self) -> None:
        set_fields(self, means=each_arm(self.means, "the mean", as_chance))

    @property
    def arms(self) -> int:
        return len(self.means)

    @property
    def random(self) -> bool:
        return coins_are_random(self.means)


@dataclass(frozen=True)
class Bernoulli(WithMeans):
    """Independent losses of 0 and 1, with one mean per arm."""

    def sampler(self, random: Random) -> Draw:
        means = np.array(self.means)
        return lambda span: flip_coins(random, means, span)


@dataclass(frozen=True)
class Spread:
    """The losses of another process, which are in [0, 1], spread over the range [low, high]."""

    losses: LossProcess
    low: float
    high: float

    @property
    def arms(self) -> int:
        return self.losses.arms

    @property
    def random(self) -> bool:
        return self.losses.random

    def sampler(self, random: Random) -> Draw:
        draw, units = self.losses.sampler(random), LossRange(self.low, self.high)
        return lambda span: np.asarray(units.total_of(draw(span), 1.0))


@dataclass(frozen=True)
class Beta(WithMeans):
    """Independent beta-distributed losses; a high concentration keeps them near their means.

    The losses of an arm with mean m are Beta(m c, (1-m) c), with variance m (1-m) / (1+c), where c
    is the concentration.
    """

    concentration: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, concentration=between(0.001, 1e9)(self.concentration, "concentration"))

    def sampler(self, random: Random) -> Draw:
        means = np.array(self.means)
        spread = np.flatnonzero((means > 0.0) & (means < 1.0))
        hits = means[spread] * self.concentration
        misses = (1.0 - means[spread]) * self.concentration

        def draw(span: Span) -> Floats:
            losses = np.empty((span.count, self.arms))
            losses[:] = means
            losses[:, spread] = random.beta(hits, misses, (span.count, spread.size))
            return losses

        return draw


@dataclass(frozen=True)
class Drifting(WithMeans):
    """Losses of 0 and 1 whose means are random walks, reflected at 0 and 1.

    The first round has the given means. `step` is the standard deviation of the normal step that
    each mean takes from one round to the next.
    """

    step: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, step=between(0.0, 1.0)(self.step, "step"))

    @property
    def random(self) -> bool:
        return self.step > 0.0 or super().random

    def sampler(self, random: Random) -> Draw:
        steps, coins = random.spawn(2)
        walk = self.walk(steps)
        return lambda span: flip_coins(coins, walk(span), span)

    def walk(self, random: Random) -> Draw:
        """A sampler of the means of each round: unbounded random walks, folded into [0, 1]."""
        here = np.array(self.means)

        def go_on(span: Span) -> Floats:
            nonlocal here
            path = np.empty((span.count + 1, self.arms))
            path[0] = here
            random.standard_normal(out=path[1:])
            path[1:] *= self.step
            np.cumsum(path, axis=0, out=path)
            here = path[-1].copy()
            return _folded(path[:-1])

        return go_on


@dataclass(frozen=True)
class FirstOrder:
    """Losses of 0 and 1 with a small mean `best` for the last arm, and `other` for all others.

    Regret bounds in terms of the loss L* of the best arm are small here.
    """

    arms: int
    best: float = 0.01
    other: float = 0.5

    def __post_init__(self) -> None:
        best, other = as_chance(self.best, "best"), as_chance(self.other, "other")
        if best > other:
            raise ValueError(f"best is {best} and other is {other}; best must not be above other")
        set_fields(self, arms=as_arm_count(self.arms), best=best, other=other)

    @property
    def random(self) -> bool:
        return self._bernoulli().random

    def sampler(self, random: Random) -> Draw:
        return self._bernoulli().sampler(random)

    def _bernoulli(self) -> Bernoulli:
        return Bernoulli([self.other] * (self.arms - 1) + [self.best])


def flip_coins(random: Random, means: Floats, span: Span) -> Floats:
    """Losses of 0 and 1 with these means, given by arm, or by round of the span and arm."""
    losses = random.random((span.count, means.shape[-1]))
    return np.less(losses, means, out=losses)


def _folded(path: Floats) -> Floats:
    """The distance of each number from the nearest even integer."""
    folded = np.rint(0.5 * path)
    folded *= -2.0
    folded += path
    return np.abs(folded, out=folded)


def coins_are_random(means: Sequence[float]) -> bool:
    """Whether losses of 0 and 1 with these means are random: some mean is neither 0 nor 1."""
    return any(0.0 < mean < 1.0 for mean in means)


def as_arm_count(arms: int) -> int:
    """Check a number of arms."""
    return as_count(arms, "arms", 1, MOST_ARMS)
