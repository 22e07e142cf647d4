"""Delay processes. The delays drawn do not depend on how the rounds are cut into spans.

Delays that reach beyond the end of the game are kept. A parameter may be one number, or a list of
one number per arm, whose length is checked with the first span, when the number of arms is known.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import in_order
from belated.environments.environment import DelayProcess, Random, Span
from belated.environments.missing import NEVER
from belated.environments.parameters import (
    LONGEST,
    Number,
    Whole,
    as_chance,
    as_delay,
    as_positive,
    as_size,
    as_wait,
    each_arm,
    fitting,
    one_or_each_arm,
    set_fields,
)

Draw = Callable[[Span, Floats], Counts]


@dataclass(frozen=True)
class Constant:
    """One delay for all rounds and arms; None, infinity and NEVER mean that no loss arrives."""

    delay: int | float | None

    random = False

    def __post_init__(self) -> None:
        set_fields(self, delay=as_delay(self.delay, "delay"))

    def sampler(self, random: Random) -> Draw:
        return _repeat(np.array(self.delay))


@dataclass(frozen=True)
class PerArm:
    """One delay per arm, in every round; None, infinity and NEVER mean that no loss arrives."""

    delays: Sequence[int | float | None]

    random = False

    def __post_init__(self) -> None:
        set_fields(self, delays=each_arm(self.delays, "the delay", as_delay))

    def sampler(self, random: Random) -> Draw:
        return _repeat(np.array(self.delays))


@dataclass(frozen=True)
class UniformDelays:
    """Delays uniformly distributed over the whole numbers from low to high, both included."""

    low: Whole
    high: Whole

    def __post_init__(self) -> None:
        low = one_or_each_arm(self.low, "low", as_wait)
        high = one_or_each_arm(self.high, "high", as_wait)
        if in_order(low) and in_order(high):
            fitting(np.array(low), np.size(high), "low")
        if np.greater(low, high).any():
            raise ValueError(f"low is {low} and high is {high}; low must not be above high")
        set_fields(self, low=low, high=high)

    @property
    def random(self) -> bool:
        return bool(np.less(self.low, self.high).any())

    def sampler(self, random: Random) -> Draw:
        low, high = np.array(self.low), np.array(self.high)
        choices = (high - low + 1).astype(np.float64)

        def draw(span: Span, losses: Floats) -> Counts:
            values = random.random(losses.shape)
            values *= fitting(choices, losses.shape[1], "low or high")
            delays = values.astype(np.int64)
            delays += low
            return delays

        return draw


@dataclass(frozen=True)
class Geometric:
    """Geometric delays 0, 1, 2, ...: a loss arrives with chance 1/(1 + mean) in each round."""

    mean: Number

    def __post_init__(self) -> None:
        set_fields(self, mean=one_or_each_arm(self.mean, "mean", as_size))

    @property
    def random(self) -> bool:
        return bool(np.any(self.mean))

    def sampler(self, random: Random) -> Draw:
        with np.errstate(divide="ignore", over="ignore"):  # a mean of 0 gives the scale 0
            scale = np.asarray(1.0 / np.log1p(1.0 / np.array(self.mean)))

        def draw(span: Span, losses: Floats) -> Counts:
            values = random.standard_exponential(losses.shape)
            values *= fitting(scale, losses.shape[1], "mean")
            return rounded_down(values)

        return draw


@dataclass(frozen=True)
class HalfNormal:
    """Delays |mean + spread z|, rounded down, where z is a standard normal number.

    `spread` is the standard deviation, not the variance. A mean of 0 gives the half-normal
    distribution; a mean of several spreads practically a normal one.
    """

    mean: Number
    spread: Number

    def __post_init__(self) -> None:
        mean = one_or_each_arm(self.mean, "mean", as_size)
        set_fields(self, mean=mean, spread=one_or_each_arm(self.spread, "spread", as_size))

    @property
    def random(self) -> bool:
        return bool(np.any(self.spread))

    def sampler(self, random: Random) -> Draw:
        mean, spread = np.array(self.mean), np.array(self.spread)

        def draw(span: Span, losses: Floats) -> Counts:
            values = random.standard_normal(losses.shape)
            values *= fitting(spread, losses.shape[1], "spread")
            values += fitting(mean, losses.shape[1], "mean")
            return rounded_down(np.abs(values, out=values))

        return draw


@dataclass(frozen=True)
class Pareto:
    """Heavy tails: P(d >= x) = (1 + x/scale)^-index for x = 0, 1, 2, ...; no mean if index <= 1."""

    index: Number
    scale: Number = 1.0

    random = True

    def __post_init__(self) -> None:
        index = one_or_each_arm(self.index, "index", as_positive)
        set_fields(self, index=index, scale=one_or_each_arm(self.scale, "scale", as_positive))

    def sampler(self, random: Random) -> Draw:
        index, scale = np.array(self.index), np.array(self.scale)

        def draw(span: Span, losses: Floats) -> Counts:
            values = random.standard_exponential(losses.shape)
            with np.errstate(over="ignore"):  # an overflow is limited to LONGEST below
                values /= fitting(index, losses.shape[1], "index")
                np.exp(values, out=values)
                values -= 1.0
                values *= fitting(scale, losses.shape[1], "scale")
            return rounded_down(values)

        return draw


@dataclass(frozen=True)
class PacketLoss:
    """The delays of another process, except that each loss never arrives with this chance."""

    chance: Number
    delays: DelayProcess

    def __post_init__(self) -> None:
        if not callable(getattr(self.delays, "sampler", None)):
            raise ValueError(f"delays is {self.delays!r}; it must be a delay process")
        set_fields(self, chance=one_or_each_arm(self.chance, "chance", as_chance))

    @property
    def random(self) -> bool:
        chance = np.array(self.chance)
        fixed = (chance == 1.0) | ((chance == 0.0) & (not self.delays.random))
        return not fixed.all()

    def sampler(self, random: Random) -> Draw:
        coins, rest = random.spawn(2)
        chance, draw_delays = np.array(self.chance), self.delays.sampler(rest)

        def draw(span: Span, losses: Floats) -> Counts:
            lost = coins.random(losses.shape) < fitting(chance, losses.shape[1], "chance")
            return np.where(lost, NEVER, draw_delays(span, losses))

        return draw


def _repeat(row: Counts) -> Draw:
    return lambda span, losses: broadcast(fitting(row, losses.shape[1], "delays"), losses)


def broadcast(values: Counts, losses: Floats) -> Counts:
    """An int64 array of the shape of the losses, with values given by round, arm or both."""
    delays = np.empty(losses.shape, dtype=np.int64)
    delays[:] = values
    return delays


def rounded_down(values: Floats) -> Counts:
    """Numbers of at least 0, rounded down to whole rounds and limited to LONGEST."""
    return np.minimum(values, LONGEST, out=values).astype(np.int64)
