"""Checks of values that users give: each returns the value as it is needed, or names the rule."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, SupportsFloat

import numpy as np

from belated.arrays import Floats
from belated.types import Arm

MOST_ARMS = 10**7
MOST_ROUNDS = 10**15
SUMS_TO_ONE = 1e-12  # how far the sum of a policy's probabilities may be from 1


@dataclass(frozen=True)
class LossRange:
    """The range of a user's losses and rewards; learners use losses in [0, 1].

    By Proposition 8 of docs/beyond-the-paper.md every regret, and every bound on one, is the width
    of the range times that of the losses in [0, 1].
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        finite = math.isfinite(self.low) and math.isfinite(self.high)
        if not (finite and self.low < self.high and math.isfinite(self.high - self.low)):
            raise ValueError(
                f"loss_range is {(self.low, self.high)!r}; it must be two finite numbers, "
                "the lower one first"
            )

    @property
    def width(self) -> float:
        """The difference of the two ends."""
        return self.high - self.low

    @property
    def is_unit(self) -> bool:
        """Whether it is [0, 1], so that nothing is converted."""
        return (self.low, self.high) == (0.0, 1.0)

    def __str__(self) -> str:
        low, high = (repr(end).removesuffix(".0") for end in (self.low, self.high))
        return f"[{low}, {high}]"

    def loss(self, value: SupportsFloat, name: str = "loss") -> float:
        """Convert a loss of the user to a loss in [0, 1]."""
        return (self._inside(value, name) - self.low) / (self.high - self.low)

    def reward(self, value: SupportsFloat, name: str = "reward") -> float:
        """Convert a reward of the user to a loss in [0, 1]."""
        return (self.high - self._inside(value, name)) / (self.high - self.low)

    def loss_of(self, unit: float) -> float:
        """The loss of the user that a loss in [0, 1] stands for, without the digits of rounding."""
        return float(f"{self.low + (self.high - self.low) * unit:.15g}")

    def clipped(self, value: float) -> float:
        """The nearest number in the range."""
        return min(max(value, self.low), self.high)

    def unit_losses(self, losses: Floats) -> Floats:
        """Convert an array of losses of the user to losses in [0, 1]; all must be in the range."""
        outside = ~((losses >= self.low) & (losses <= self.high))
        if outside.any():
            raise ValueError(f"a loss is {losses[outside].flat[0]}; it must be in {self}")
        return losses if self.is_unit else (losses - self.low) / self.width

    def total_of(self, units: Any, count: float | Floats) -> Any:
        """The sum of so many losses of the user whose sum in [0, 1] is this; arrays likewise."""
        return self.low * count + self.width * units

    def reward_of(self, unit: float) -> float:
        """The reward of the user that a loss in [0, 1] stands for."""
        return float(f"{self.high - (self.high - self.low) * unit:.15g}")

    def _inside(self, value: SupportsFloat, name: str) -> float:
        number = as_number(value, name)
        if not self.low <= number <= self.high:
            raise ValueError(f"{name} is {value!r}; it must be in {self}")
        return number


def as_number(value: SupportsFloat, name: str) -> float:
    """The value as a finite number; text is refused, even if it could be read as a number."""
    if isinstance(value, (str, bytes)):
        raise ValueError(f"{name} is {value!r}; it must be a number")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}; it must be a number") from None
    except OverflowError:
        raise ValueError(f"{name} is {value!r}; it must be within the range of a double") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} is {value!r}; it must be finite")
    return number


def as_chance(value: SupportsFloat, name: str) -> float:
    """The value as a number above 0 and below 1."""
    number = as_number(value, name)
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} is {value!r}; it must be above 0 and below 1")
    return number


def as_range(loss_range: Sequence[float]) -> LossRange:
    """The range that a pair (low, high) stands for."""
    try:
        low, high = loss_range
    except (TypeError, ValueError):
        raise ValueError(f"loss_range is {loss_range!r}; it must be a pair (low, high)") from None
    return LossRange(as_number(low, "loss_range"), as_number(high, "loss_range"))


def as_arms(arms: Sequence[Arm] | int) -> tuple[Arm, ...]:
    """The names of the arms, which must differ; a number K stands for the names 0 to K-1."""
    return as_names(arms, "arms")


def as_names(given: Sequence[Arm] | int, plural: str) -> tuple[Arm, ...]:
    """The names of arms or policies, which must differ; a number stands for 0, 1, 2, ..."""
    word = {"arms": "arm", "policies": "policy"}[plural]
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        if not 1 <= given <= MOST_ARMS:
            raise ValueError(f"there are {given} {plural}; there must be from 1 to {MOST_ARMS}")
        return tuple(range(int(given)))
    names = in_order(given)
    if names is None:
        rule = "it must be a list of names, or how many there are"
        raise ValueError(f"{plural} is {given!r}; {rule}")
    if not names:
        raise ValueError(f"there are 0 {plural}; there must be at least 1")
    seen = set()
    for name in names:
        if not isinstance(name, (str, int)) or isinstance(name, bool):
            rule = "a name must be a string or a whole number"
            raise ValueError(f"{word} {name!r} is no name; {rule}")
        if name in seen:
            raise ValueError(f"{word} {name!r} is named twice; names must differ")
        seen.add(name)
    return names


def as_weights(prior: Any, arms: tuple[Arm, ...]) -> list[float] | None:
    """A prior that is given in the order of the arms or by name, as a list in that order."""
    if prior is None:
        return None
    if isinstance(prior, Mapping):
        known = set(arms)
        odd = [name for name in prior if name not in known] + [a for a in arms if a not in prior]
        if odd:
            raise ValueError(f"prior and arms differ at {odd[0]!r}; prior must name each arm once")
        prior = [prior[arm] for arm in arms]
    weights = in_order(prior)
    if weights is None:
        raise ValueError(f"prior is {prior!r}; it must be a list of weights, or weights by name")
    return [as_number(weight, "prior") for weight in weights]


def in_order(values: Any) -> tuple[Any, ...] | None:
    """The values of a sequence or a one-dimensional array as a tuple; None for anything else."""
    if isinstance(values, np.ndarray):
        return tuple(values.tolist()) if values.ndim == 1 else None
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
        return None
    return tuple(values)


def as_count(value: Any, name: str, least: int, most: int | None = None) -> int:
    """The value as a whole number, which must be in a range."""
    rule = f"a whole number of at least {least}"
    if most is not None:
        rule = f"a whole number from {least} to {most}"
    try:
        whole = not isinstance(value, (bool, np.bool_, str)) and value == int(value)
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole or value < least or (most is not None and value > most):
        raise ValueError(f"{name} is {value!r}; it must be {rule}")
    return int(value)


def checked_advice(advice: Any, policies: Sequence[Arm], arms: int) -> Floats:
    """What each policy advises, as an array with a row for each policy: distributions over arms."""
    try:
        table = np.array(advice, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape != (len(policies), arms):
        raise ValueError(
            f"advice must be a table with a row for each of {len(policies)} policies and a number "
            f"for each of {arms} arms"
        )
    sums = np.abs(table.sum(axis=1) - 1.0)
    if (table >= 0.0).all() and (sums <= SUMS_TO_ONE / 2.0).all():  # so are almost all tables
        return table
    for name, row in zip(policies, table, strict=True):
        if not (np.isfinite(row).all() and (row >= 0.0).all()):
            raise ValueError(
                f"policy {name!r} advises {row.tolist()}; probabilities must be numbers from 0 to 1"
            )
        if not row.any():
            raise ValueError(
                f"policy {name!r} advises nothing; it must give some arm a probability above 0"
            )
        if abs(math.fsum(row) - 1.0) > SUMS_TO_ONE:
            raise ValueError(
                f"policy {name!r} advises probabilities with the sum {math.fsum(row)!r}; "
                "it must be 1"
            )
    return table


def checked_prior(prior: Sequence[float] | None, arms: int, word: str = "arm") -> tuple[float, ...]:
    """The prior pi of eq:fullinfoprior as a distribution, uniform if None."""
    if prior is None:
        return (1.0 / arms,) * arms
    given = in_order(prior)
    if given is None:
        raise ValueError(f"prior is {prior!r}; it must be a list of weights")
    weights = tuple(as_number(weight, "prior") for weight in given)
    if len(weights) != arms:
        raise ValueError(
            f"prior has {len(weights)} weights; it must have one for each {word}, {arms}"
        )
    for weight in weights:
        if not 0.0 <= weight <= 1.0:
            raise ValueError(f"prior holds {weight!r}; every weight must be in [0, 1]")
    total = math.fsum(weights)
    if abs(total - 1.0) > 1e-9:
        raise ValueError(f"prior sums to {total!r}; it must sum to 1")
    return weights
