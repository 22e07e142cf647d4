"""What all families draw: the size of a world, and numbers and choices from stated ranges."""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from belated.environments.environment import Random

Value = TypeVar("Value")

MOST_PAIRS = 10**6  # rounds times arms, so that a world is played in about a second
LONG, SHARE_LONG = 20_000, 0.1  # one world in ten may have more rounds than this
ROUNDS_PER_ARM = 40  # else uniform play could not try each arm so often


class Size(NamedTuple):
    """The numbers of arms and rounds of a world."""

    arms: int
    rounds: int


def draw_size(
    random: Random,
    arms: tuple[int, int] = (2, 100),
    rounds: tuple[int, int] = (500, 50_000),
    rounds_per_arm: int = ROUNDS_PER_ARM,
) -> Size:
    """Draw the size of a world: both numbers log-uniform, with few worlds of many rounds."""
    low, high = rounds
    if low < LONG < high:
        low, high = (LONG, high) if random.random() < SHARE_LONG else (low, LONG)
    length = whole(random, low, high)
    count = whole(random, arms[0], max(arms[0], min(arms[1], length // rounds_per_arm)))
    return Size(count, min(length, MOST_PAIRS // count))


def log_uniform(random: Random, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniformly distributed, with about three digits."""
    drawn = float(np.exp(random.uniform(np.log(low), np.log(high))))
    return min(max(rounded(drawn), low), high)


def uniform(random: Random, low: float, high: float) -> float:
    """Draw a number, with about three digits."""
    return min(max(rounded(float(random.uniform(low, high))), low), high)


def whole(random: Random, low: float, high: float) -> int:
    """Draw a whole number whose logarithm is uniformly distributed."""
    return max(int(low), min(int(high), round(log_uniform(random, max(low, 1), max(high, 1)))))


def one_of(random: Random, values: Sequence[Value]) -> Value:
    """Draw one of some values."""
    return values[int(random.integers(len(values)))]


def shuffled(random: Random, values: Sequence[Value]) -> list[Value]:
    """Draw an order of some values."""
    return [values[k] for k in random.permutation(len(values))]


def rounded(value: float) -> float:
    """Return a number with three significant digits, so that its text says all of it."""
    return float(f"{value:.3g}")


def said_range(values: Sequence[float]) -> str:
    """Say the smallest and the largest of some numbers: "3 to 90", or "3" if they are equal."""
    low, high = said(min(values)), said(max(values))
    return low if low == high else f"{low} to {high}"


def said(value: float) -> str:
    """Return a number as text with three significant digits, never with an exponent."""
    return f"{value:.3g}" if value < 1000.0 else f"{value:.0f}"
