"""Loss processes around means that move along a path, with a level that all arms may share."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.checks import MOST_ROUNDS, as_count
from belated.environments.environment import LossProcess, Random, Span
from belated.environments.losses import Draw, coins_are_random, flip_coins
from belated.environments.parameters import as_chance, as_positive, between, each_arm, set_fields


@dataclass(frozen=True)
class MeanPath:
    """The mean of each arm over the rounds, given at some rounds (knots) from round 0 on.

    Between two knots the means stay as they are if `sudden`, else they move evenly from one to the
    next. After the last knot they stay.
    """

    knots: Sequence[int]
    means: Sequence[Sequence[float]]  # a row for each knot
    sudden: bool = True

    def __post_init__(self) -> None:
        knots = tuple(as_count(each, "a knot", 0, MOST_ROUNDS) for each in self.knots)
        means = tuple(each_arm(row, "the mean", as_chance) for row in self.means)
        rising = all(a < b for a, b in itertools.pairwise(knots))
        if not (knots and knots[0] == 0 and rising and len(means) == len(knots)):
            raise ValueError(
                f"knots are {knots} and there are {len(means)} rows of means; knots must rise from "
                "0 and have a row each"
            )
        if len(set(map(len, means))) > 1:
            raise ValueError("rows of means have different lengths; each must have every arm")
        set_fields(self, knots=knots, means=means)

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return len(self.means[0])

    def at(self, span: Span) -> Floats:
        """The means of the rounds of a span; one row if they never change."""
        table, knots = np.array(self.means), np.array(self.knots)
        if len(knots) == 1:
            return table
        row = np.searchsorted(knots, span.index, side="right") - 1
        if self.sudden:
            return table.take(row, axis=0)
        after = np.minimum(row + 1, len(knots) - 1)
        way = (span.index - knots[row]) / np.maximum(knots[after] - knots[row], 1)
        here: Floats = table[row] + way[:, None] * (table[after] - table[row])
        return here


class SharedLevel(Protocol):
    """What is added to the means of all arms equally, drawn as one number for each round."""

    def sampler(self, random: Random) -> Callable[[Span], Floats]: ...


@dataclass(frozen=True)
class Waves:
    """A level that goes up and down by `swing` with a period of `period` rounds."""

    swing: float
    period: float

    def __post_init__(self) -> None:
        set_fields(
            self, swing=as_chance(self.swing, "swing"), period=as_positive(self.period, "period")
        )

    def sampler(self, random: Random) -> Callable[[Span], Floats]:
        return lambda span: self.swing * np.sin(2.0 * np.pi * span.index / self.period)


@dataclass(frozen=True)
class Weather:
    """A level that stays for a random time, `lasting` rounds on average, and is then drawn again.

    It is uniformly distributed between -swing and swing.
    """

    swing: float
    lasting: float

    def __post_init__(self) -> None:
        lasting = between(1.0, MOST_ROUNDS)(self.lasting, "lasting")
        set_fields(self, swing=as_chance(self.swing, "swing"), lasting=lasting)

    def sampler(self, random: Random) -> Callable[[Span], Floats]:
        values, ends = random.spawn(2)
        hold = KeptValues(1)

        def draw(span: Span) -> Floats:
            fresh = values.uniform(-self.swing, self.swing, (span.count, 1))
            held: Floats = hold(fresh, ends.random((span.count, 1)) < 1.0 / self.lasting)
            return held[:, 0]

        return draw


@dataclass(frozen=True)
class AroundPath:
    """Independent losses around means that follow a path, plus a level that all arms share.

    With `spread` None they are 0 or 1; else they are normal with this standard deviation. Means
    and losses that would leave [0, 1] are set to its ends.
    """

    path: MeanPath
    level: SharedLevel | None = None
    spread: float | None = None

    @property
    def arms(self) -> int:
        return self.path.arms

    @property
    def random(self) -> bool:
        if self.spread is not None or self.level is not None or not self.path.sudden:
            return True
        return any(map(coins_are_random, self.path.means))

    def sampler(self, random: Random) -> Draw:
        noise, shared = random.spawn(2)
        level = None if self.level is None else self.level.sampler(shared)

        def draw(span: Span) -> Floats:
            means = self.path.at(span)
            if level is not None:
                means = np.clip(means + level(span)[:, None], 0.0, 1.0)
            if self.spread is None:
                return flip_coins(noise, means, span)
            losses = noise.standard_normal((span.count, self.arms))
            losses *= self.spread
            losses += means
            return np.clip(losses, 0.0, 1.0, out=losses)

        return draw


@dataclass(frozen=True)
class Sticky:
    """The losses of another process, each of which an arm keeps for `lasting` rounds on average.

    The correlation of an arm's losses k rounds apart is (1 - 1/lasting)^k, if those of the other
    process are independent.
    """

    losses: LossProcess
    lasting: float

    random = True

    def __post_init__(self) -> None:
        set_fields(self, lasting=between(1.0, MOST_ROUNDS)(self.lasting, "lasting"))

    @property
    def arms(self) -> int:
        return self.losses.arms

    def sampler(self, random: Random) -> Draw:
        values, ends = random.spawn(2)
        draw_fresh, hold = self.losses.sampler(values), KeptValues(self.arms)

        def draw(span: Span) -> Floats:
            return hold(draw_fresh(span), ends.random((span.count, self.arms)) < 1.0 / self.lasting)

        return draw


@dataclass(frozen=True)
class Revenue:
    """Losses 1 - revenue: an arm sells with its rate, and a sale brings a random amount.

    The amount is log-normal with the arm's mean `amounts` and the standard deviation `spread` of
    its logarithm; what is above 1 counts as 1.
    """

    rates: Sequence[float]
    amounts: Sequence[float]
    spread: float = 0.5

    random = True

    def __post_init__(self) -> None:
        rates = each_arm(self.rates, "the rate", as_chance)
        amounts = each_arm(self.amounts, "the amount", as_chance)
        if len(rates) != len(amounts):
            raise ValueError(
                f"there are {len(rates)} rates and {len(amounts)} amounts; each arm has both"
            )
        spread = between(0.0, 10.0)(self.spread, "spread")
        set_fields(self, rates=rates, amounts=amounts, spread=spread)

    @property
    def arms(self) -> int:
        return len(self.rates)

    def sampler(self, random: Random) -> Draw:
        coins, sizes = random.spawn(2)
        rates, amounts = np.array(self.rates), np.array(self.amounts)

        def draw(span: Span) -> Floats:
            sold = flip_coins(coins, rates, span)
            paid = sizes.standard_normal(sold.shape)
            paid *= self.spread
            paid -= 0.5 * self.spread**2
            np.exp(paid, out=paid)
            paid *= amounts
            revenue: Floats = sold * np.minimum(paid, 1.0)
            return 1.0 - revenue

        return draw


class KeptValues:
    """Keeps each column's value until it is renewed, from one span to the next."""

    def __init__(self, columns: int) -> None:
        self.last: Floats | None = None
        self.columns = np.arange(columns)

    def __call__(self, fresh: Floats, renewed: NDArray[np.bool_]) -> Floats:
        """Return the values of a span: the fresh value where renewed, else the one before."""
        before = fresh[:1] if self.last is None else self.last
        values = np.concatenate([before, fresh])
        rows = np.where(renewed, np.arange(1, len(values))[:, None], 0)
        held: Floats = values[np.maximum.accumulate(rows, axis=0), self.columns]
        self.last = held[-1:].copy()
        return held
