"""Losses and delays given as arrays, a row for each round and a column for each arm."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import LossRange
from belated.environments.environment import Random, Span
from belated.environments.missing import NEVER

UNIT_RANGE = LossRange()


@dataclass(frozen=True, eq=False)
class GivenLosses:
    """Losses from an array, which do not depend on the seed; `units` is the range they lie in."""

    values: Floats
    units: LossRange = UNIT_RANGE

    random = False

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(_table(self.values, "losses"), dtype=np.float64)
        outside = ~((values >= self.units.low) & (values <= self.units.high))
        if outside.any():
            t, i = np.argwhere(outside)[0]
            raise ValueError(
                f"the loss of arm {i + 1} in round {t + 1} is {values[t, i]}; "
                f"it must be in {self.units}"
            )
        object.__setattr__(self, "values", values)

    @property
    def arms(self) -> int:
        return int(self.values.shape[1])

    def sampler(self, random: Random) -> Callable[[Span], Floats]:
        return lambda span: self.values[span.first : span.first + span.count]


@dataclass(frozen=True, eq=False)
class GivenDelays:
    """Delays from an array, which do not depend on the seed; NEVER, NaN, infinity mean never."""

    values: Counts

    random = False

    def __post_init__(self) -> None:
        values = _table(self.values, "delays")
        if values.dtype.kind not in "iu":
            values = _whole(values.astype(np.float64))
        elif values.dtype.kind == "u":
            values = np.minimum(values, np.uint64(2**62))
        values = np.ascontiguousarray(values, dtype=np.int64)
        outside = (values < 0) & (values != NEVER)
        if outside.any():
            t, i = np.argwhere(outside)[0]
            raise ValueError(
                f"the delay of arm {i + 1} in round {t + 1} is {values[t, i]}; it must be at "
                f"least 0, or {NEVER} for never"
            )
        object.__setattr__(self, "values", values)

    def sampler(self, random: Random) -> Callable[[Span, Floats], Counts]:
        return lambda span, losses: self.values[span.first : span.first + span.count]


@dataclass(frozen=True, eq=False)
class GivenAdvice:
    """Advice from an array of shape (round, policy, arm), which does not depend on the seed."""

    values: Floats
    policies: Sequence[str]

    random = False

    def sampler(self, random: Random) -> Callable[[Span], Floats]:
        return lambda span: self.values[span.first : span.first + span.count]


def _table(values: object, name: str) -> np.ndarray:
    table = np.asarray(values)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(
            f"{name} have the shape {table.shape}; they must be a table with a row for each round "
            "and a column for each arm"
        )
    if table.dtype.kind not in "biuf":
        raise ValueError(f"{name} are of type {table.dtype}; they must be numbers")
    return table


def _whole(values: Floats) -> Counts:
    never = np.isnan(values) | (values == np.inf)
    kept = np.where(never, NEVER, values)
    broken = kept != np.floor(kept)
    if broken.any():
        t, i = np.argwhere(broken)[0]
        raise ValueError(
            f"the delay of arm {i + 1} in round {t + 1} is {kept[t, i]}; it must be a whole number"
        )
    return np.clip(kept, -(2.0**62), 2.0**62).astype(np.int64)
