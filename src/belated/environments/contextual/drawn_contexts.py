"""Contexts: drawn from a normal distribution, from the rows of a table, or given for each round."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_count
from belated.environments.environment import Random, Span

MOST_FEATURES = 1000


@dataclass(frozen=True)
class NormalContexts:
    """Independent standard normal numbers, `width` of them in each round."""

    width: int

    random = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", as_count(self.width, "features", 1, MOST_FEATURES))

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(f"x{i + 1}" for i in range(self.width))

    def sampler(self, random: Random) -> Callable[[Span], Floats]:
        return lambda span: random.standard_normal((span.count, self.width))


@dataclass(frozen=True, eq=False)
class RowsOfTable:
    """A row of a table in each round, drawn at random; its class follows as a hidden column."""

    table: Floats
    classes: Counts
    features: Sequence[str]

    random = True

    def sampler(self, random: Random) -> Callable[[Span], Floats]:
        rows = np.column_stack([self.table, self.classes])
        return lambda span: rows[random.integers(len(rows), size=span.count)]


@dataclass(frozen=True, eq=False)
class GivenContexts:
    """Contexts from an array with a row for each round, which do not depend on the seed."""

    values: Floats
    features: Sequence[str]

    random = False

    def sampler(self, random: Random) -> Callable[[Span], Floats]:
        return lambda span: self.values[span.first : span.first + span.count]
