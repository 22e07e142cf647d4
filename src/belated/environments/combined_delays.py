"""Delay processes made of others: by outcome, with pauses, within a window."""

from dataclasses import dataclass

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ROUNDS, as_count
from belated.environments.delays import Draw, rounded_down
from belated.environments.environment import DelayProcess, Random, Span
from belated.environments.missing import NEVER
from belated.environments.parameters import (
    Number,
    as_size,
    as_wait,
    between,
    fitting,
    one_or_each_arm,
    set_fields,
)


@dataclass(frozen=True)
class LogNormal:
    """Log-normal delays, rounded down; `spread` is the standard deviation of their logarithm."""

    median: Number
    spread: float = 1.0

    def __post_init__(self) -> None:
        median = one_or_each_arm(self.median, "median", as_size)
        set_fields(self, median=median, spread=between(0.0, 10.0)(self.spread, "spread"))

    @property
    def random(self) -> bool:
        return bool(np.any(self.median)) and self.spread > 0.0

    def sampler(self, random: Random) -> Draw:
        median = np.array(self.median)

        def draw(span: Span, losses: Floats) -> Counts:
            values = random.standard_normal(losses.shape)
            values *= self.spread
            np.exp(values, out=values)
            values *= fitting(median, losses.shape[1], "median")
            return rounded_down(values)

        return draw


@dataclass(frozen=True)
class ByOutcome:
    """Delays that depend on the outcome: of `good` for losses below `below`, else of `bad`."""

    good: DelayProcess
    bad: DelayProcess
    below: float = 0.5

    @property
    def random(self) -> bool:
        return self.good.random or self.bad.random

    def sampler(self, random: Random) -> Draw:
        draws = random.spawn(2)
        draw_good, draw_bad = self.good.sampler(draws[0]), self.bad.sampler(draws[1])

        def draw(span: Span, losses: Floats) -> Counts:
            good, bad = draw_good(span, losses), draw_bad(span, losses)
            return np.where(losses < self.below, good, bad)

        return draw


@dataclass(frozen=True)
class Pauses:
    """What would arrive in the last `pause` of every `every` rounds arrives at their end.

    With `pause` equal to `every`, all that arrives in a day is told at the end of the day.
    """

    every: int
    pause: int
    delays: DelayProcess

    def __post_init__(self) -> None:
        every = as_count(self.every, "every", 1, MOST_ROUNDS)
        set_fields(self, every=every, pause=as_count(self.pause, "pause", 0, every))

    @property
    def random(self) -> bool:
        return self.delays.random

    def sampler(self, random: Random) -> Draw:
        draw_delays = self.delays.sampler(random)

        def draw(span: Span, losses: Floats) -> Counts:
            delays = draw_delays(span, losses)
            left = self.every - 1 - (span.index[:, None] + delays) % self.every
            waits = (left < self.pause) & (delays != NEVER)
            return delays + np.where(waits, left, 0)

        return draw


@dataclass(frozen=True)
class Within:
    """The delays of another process, but none above `most`; what never arrives, arrives then."""

    most: int
    delays: DelayProcess

    def __post_init__(self) -> None:
        set_fields(self, most=as_wait(self.most, "most"))

    @property
    def random(self) -> bool:
        return self.delays.random

    def sampler(self, random: Random) -> Draw:
        draw_delays = self.delays.sampler(random)

        def draw(span: Span, losses: Floats) -> Counts:
            delays = draw_delays(span, losses)
            return np.where((delays == NEVER) | (delays > self.most), self.most, delays)

        return draw
