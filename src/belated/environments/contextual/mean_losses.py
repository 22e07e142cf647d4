"""Mean losses that depend on contexts, and coins with these means.

The sampler of means draws the parameters of a game, and returns a function from a span and its rows
of contexts to means of shape (count, arms).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from belated.arrays import Floats
from belated.checks import MOST_ARMS, as_count
from belated.environments.environment import DrawnLosses, Random, Span

Means = Callable[[Span, Floats], Floats]
SUREST = 0.02  # no mean is nearer to 0 or 1


class MeanLosses(Protocol):
    """A source of mean losses that depend on contexts."""

    @property
    def arms(self) -> int: ...

    def sampler(self, random: Random) -> Means: ...


@dataclass(frozen=True)
class CoinsByContext:
    """Losses of 0 and 1 with means that depend on contexts.

    One draw of luck decides the losses of all arms of a round: an arm of smaller mean never loses
    where another one does not. So two learners that nearly always agree have nearly equal losses.
    """

    means: MeanLosses

    random = True
    reads_contexts = True

    @property
    def arms(self) -> int:
        return self.means.arms

    def sampler(self, random: Random) -> Callable[[Span, Floats], DrawnLosses]:
        parameters, luck = random.spawn(2)
        means_of = self.means.sampler(parameters)

        def draw(span: Span, rows: Floats) -> DrawnLosses:
            means = means_of(span, rows)
            return DrawnLosses((luck.random((span.count, 1)) < means).astype(np.float64), means)

        return draw


@dataclass(frozen=True)
class LinearMeans:
    """Means 1/2 - spread <theta_a, x>, clipped; theta_a has norm about 1 and is drawn by game.

    After each `every` rounds (0: never) all theta_a are drawn again.
    """

    arms: int
    spread: float
    every: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", as_count(self.arms, "arms", 2, MOST_ARMS))

    def sampler(self, random: Random) -> Means:
        eras: list[Floats] = []

        def means(span: Span, rows: Floats) -> Floats:
            era = span.index // self.every if self.every else np.zeros(span.count, dtype=np.int64)
            while len(eras) <= era[-1]:
                eras.append(directions(random, self.arms, rows.shape[1]))
            values = np.einsum("tad,td->ta", np.array(eras)[era], rows)
            found: Floats = np.clip(0.5 - self.spread * values, SUREST, 1.0 - SUREST)
            return found

        return means


@dataclass(frozen=True)
class RareRewards:
    """Rewards with the log-odds level + spread <theta_a, x>; theta_a has norm about 1."""

    arms: int
    level: float
    spread: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", as_count(self.arms, "arms", 2, MOST_ARMS))

    def sampler(self, random: Random) -> Means:
        drawn: list[Floats] = []

        def means(span: Span, rows: Floats) -> Floats:
            if not drawn:
                drawn.append(directions(random, self.arms, rows.shape[1]))
            odds = self.level + self.spread * np.einsum("ad,td->ta", drawn[0], rows)
            unlikely: Floats = 1.0 / (1.0 + np.exp(odds))
            return unlikely

        return means


@dataclass(frozen=True)
class CrossedMeans:
    """Arms of even number are good where the first two features agree in sign, odd ones elsewhere.

    A smaller part of the means is linear, so that a linear learner finds some of it.
    """

    arms: int
    crossed: float
    linear: float

    def sampler(self, random: Random) -> Means:
        means_of = LinearMeans(self.arms, self.linear).sampler(random)
        kind = np.where(np.arange(self.arms) % 2 == 0, 1.0, -1.0)

        def means(span: Span, rows: Floats) -> Floats:
            agree = np.sign(rows[:, :1] * rows[:, 1:2])
            return np.clip(means_of(span, rows) - self.crossed * agree * kind, 0.0, 1.0)

        return means


@dataclass(frozen=True)
class IdleMeans:
    """Means around 1/2, drawn by game, that no context changes."""

    arms: int
    spread: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", as_count(self.arms, "arms", 2, MOST_ARMS))

    def sampler(self, random: Random) -> Means:
        steady = np.clip(
            0.5 - self.spread * random.standard_normal(self.arms), SUREST, 1.0 - SUREST
        )
        return lambda span, rows: np.repeat(steady[None], span.count, axis=0)


@dataclass(frozen=True)
class ClassMeans:
    """The arm of the row's class, its last number, has the mean loss `right`, others `wrong`.

    With fewer arms than classes, class c belongs to arm c modulo their number.
    """

    arms: int
    right: float
    wrong: float

    def sampler(self, random: Random) -> Means:
        def means(span: Span, rows: Floats) -> Floats:
            own = rows[:, -1:].astype(np.int64) % self.arms == np.arange(self.arms)
            return np.where(own, self.right, self.wrong)

        return means


def directions(random: Random, arms: int, width: int) -> Floats:
    """A random direction for each arm, with a squared norm of 1 in the mean."""
    drawn: Floats = random.standard_normal((arms, width)) / np.sqrt(width)
    return drawn
