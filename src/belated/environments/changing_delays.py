"""Delay processes that depend on the round or on the loss; none of them is random."""

import math
from dataclasses import dataclass

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ROUNDS, as_count
from belated.environments.delays import Draw, broadcast
from belated.environments.environment import Random, Span
from belated.environments.parameters import (
    Number,
    Whole,
    as_chance,
    as_size,
    fitting,
    one_or_each_arm,
    set_fields,
)


@dataclass(frozen=True)
class Batches:
    """The losses of each batch of `every` rounds arrive together, at the end of the batch."""

    every: Whole

    random = False

    def __post_init__(self) -> None:
        set_fields(self, every=one_or_each_arm(self.every, "every", _as_stretch))

    def sampler(self, random: Random) -> Draw:
        every = np.array(self.every)

        def draw(span: Span, losses: Floats) -> Counts:
            sizes = np.atleast_1d(fitting(every, losses.shape[1], "every"))
            return broadcast(sizes - 1 - span.index[:, None] % sizes, losses)

        return draw


@dataclass(frozen=True)
class GrowingLate:
    """No delay for the fraction `start` of the rounds, then delays that rise linearly to `most`.

    Round t of T has the delay max(0, most (t/T - start) / (1 - start)), rounded.
    """

    start: float
    most: Number

    random = False

    def __post_init__(self) -> None:
        start = as_chance(self.start, "start")
        if start == 1.0:
            raise ValueError("start is 1; it must be below 1, so that delays have time to rise")
        set_fields(self, start=start, most=one_or_each_arm(self.most, "most", as_size))

    def sampler(self, random: Random) -> Draw:
        most = np.array(self.most)

        def draw(span: Span, losses: Floats) -> Counts:
            over = (span.index[:, None] + 1.0) / span.rounds
            risen = np.maximum(0.0, (over - self.start) / (1.0 - self.start))
            highest = fitting(most, losses.shape[1], "most")
            return broadcast(np.rint(highest * risen).astype(np.int64), losses)

        return draw


@dataclass(frozen=True)
class Unbalanced:
    """The losses of the first floor(sqrt(K T / ln K)) rounds arrive at the end, all others at once.

    Few rounds cause most of the total delay, so a learner that skips them gains much (Thune,
    Cesa-Bianchi and Seldin, 2019). With one arm no loss is late.
    """

    random = False

    def sampler(self, random: Random) -> Draw:
        def draw(span: Span, losses: Floats) -> Counts:
            arms, rounds = losses.shape[1], span.rounds
            late = math.isqrt(int(arms * rounds / math.log(arms))) if arms > 1 else 0
            index = span.index[:, None]
            return broadcast(np.where(index < late, rounds - 1 - index, 0), losses)

        return draw


@dataclass(frozen=True)
class ProportionalToLoss:
    """Delay most * loss, rounded; with `rising=False` the delay is most * (1 - loss)."""

    most: Number
    rising: bool = True

    random = False

    def __post_init__(self) -> None:
        set_fields(self, most=one_or_each_arm(self.most, "most", as_size))

    def sampler(self, random: Random) -> Draw:
        most = np.array(self.most)

        def draw(span: Span, losses: Floats) -> Counts:
            shares = losses if self.rising else 1.0 - losses
            values: Floats = shares * fitting(most, losses.shape[1], "most")
            np.rint(values, out=values)
            return values.astype(np.int64)

        return draw


def _as_stretch(value: object, name: str) -> int:
    return as_count(value, name, 1, MOST_ROUNDS)
