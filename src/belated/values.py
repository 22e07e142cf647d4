"""What users hand in, checked and brought to the learner's own terms: one sentence on bad input."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, SupportsFloat

import numpy as np

from belated.types import Arm


@dataclass(frozen=True)
class LossRange:
    """The range that a user's losses and rewards lie in; the learner's own is [0, 1]."""

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        finite = math.isfinite(self.low) and math.isfinite(self.high)
        if not (finite and self.low < self.high and math.isfinite(self.high - self.low)):
            raise ValueError(
                f"loss_range is {(self.low, self.high)!r}; it must be two finite numbers, "
                "the lower one first"
            )

    def loss(self, value: SupportsFloat, name: str = "loss") -> float:
        """A loss of the user's as a loss in [0, 1]."""
        return (self._inside(value, name) - self.low) / (self.high - self.low)

    def reward(self, value: SupportsFloat, name: str = "reward") -> float:
        """A reward of the user's as a loss in [0, 1]."""
        return (self.high - self._inside(value, name)) / (self.high - self.low)

    def _inside(self, value: SupportsFloat, name: str) -> float:
        number = as_number(value, name)
        if not self.low <= number <= self.high:
            raise ValueError(f"{name} is {value!r}; it must be in [{self.low:g}, {self.high:g}]")
        return number


def as_number(value: SupportsFloat, name: str) -> float:
    """A finite number, or a clear error; text is not taken for a number."""
    if isinstance(value, (str, bytes)):
        raise ValueError(f"{name} is {value!r}; it must be a number")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}; it must be a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} is {value!r}; it must be finite")
    return number


def as_range(loss_range: Sequence[float]) -> LossRange:
    """(low, high) as a LossRange."""
    try:
        low, high = loss_range
    except (TypeError, ValueError):
        raise ValueError(f"loss_range is {loss_range!r}; it must be a pair (low, high)") from None
    return LossRange(as_number(low, "loss_range"), as_number(high, "loss_range"))


def as_arms(arms: Sequence[Arm] | int) -> tuple[Arm, ...]:
    """The names of the arms; a number K stands for the names 0 to K-1."""
    if isinstance(arms, int) and not isinstance(arms, bool):
        arms = range(arms)
    if isinstance(arms, np.ndarray):
        arms = arms.tolist()
    if isinstance(arms, (str, bytes)) or not isinstance(arms, Sequence):
        raise ValueError(f"arms is {arms!r}; it must be a list of names, or how many there are")
    if len(arms) == 0:
        raise ValueError("there are 0 arms; there must be at least 1")
    for arm in arms:
        if not isinstance(arm, (str, int)) or isinstance(arm, bool):
            raise ValueError(f"arm {arm!r} is no name; a name must be a string or a whole number")
    if len(set(arms)) < len(arms):
        twice = next(arm for i, arm in enumerate(arms) if arm in arms[:i])
        raise ValueError(f"arm {twice!r} is named twice; names must differ")
    return tuple(arms)


def as_weights(prior: Any, arms: tuple[Arm, ...]) -> list[float] | None:
    """A prior by position or by name, as a list in the order of the arms."""
    if prior is None:
        return None
    if isinstance(prior, Mapping):
        if set(prior) != set(arms):
            odd = sorted(map(repr, set(prior) ^ set(arms)))
            raise ValueError(f"prior does not match the arms at {odd[0]}; it must name each once")
        prior = [prior[arm] for arm in arms]
    return [as_number(weight, "prior") for weight in prior]


def as_count(value: Any, name: str, least: int, most: int | None = None) -> int:
    """A whole number in a range, or a clear error."""
    rule = f"a whole number of at least {least}"
    if most is not None:
        rule = f"a whole number from {least} to {most}"
    try:
        whole = not isinstance(value, (bool, str)) and value == int(value)
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole or value < least or (most is not None and value > most):
        raise ValueError(f"{name} is {value!r}; it must be {rule}")
    return int(value)
