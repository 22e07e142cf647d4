"""Checks of the parameters of loss and delay processes: one number, or one number per arm."""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from belated.checks import as_count, as_number, in_order
from belated.environments.missing import NEVER

LONGEST = 2**62  # a round plus such a delay fits an int64

Value = TypeVar("Value", int, float)
Entry = TypeVar("Entry", np.int64, np.float64)
Number = float | Sequence[float]  # one number for all arms, or one per arm
Whole = int | Sequence[int]


def between(low: float, high: float) -> Callable[[Any, str], float]:
    """A function that checks that a number is in [low, high], and returns it as a float."""

    def check(value: Any, name: str) -> float:
        number = as_number(value, name)
        if not low <= number <= high:
            raise ValueError(f"{name} is {value!r}; it must be in [{low:g}, {high:g}]")
        return number

    return check


as_chance = between(0.0, 1.0)
as_size = between(0.0, LONGEST)


def as_positive(value: Any, name: str) -> float:
    """Check that a value is a finite number above 0."""
    number = as_number(value, name)
    if number <= 0.0:
        raise ValueError(f"{name} is {value!r}; it must be above 0")
    return number


def as_wait(value: Any, name: str) -> int:
    """Check a finite delay, in rounds."""
    return as_count(value, name, 0, LONGEST)


def as_delay(value: Any, name: str) -> int:
    """Check a delay in rounds; None, infinity and NEVER all become NEVER."""
    if value is None or (isinstance(value, float) and value == math.inf):
        return NEVER
    try:
        return as_count(value, name, NEVER, LONGEST)
    except ValueError:
        raise ValueError(
            f"{name} is {value!r}; it must be a whole number from 0 to {LONGEST}, or None for never"
        ) from None


def each_arm(values: Any, name: str, check: Callable[[Any, str], Value]) -> tuple[Value, ...]:
    """Check a list of one number per arm."""
    numbers = in_order(values)
    if not numbers:
        raise ValueError(f"{name} is {values!r}; it must be a list with a number for each arm")
    return tuple(check(number, f"{name} of arm {i}") for i, number in enumerate(numbers, 1))


def one_or_each_arm(
    value: Any, name: str, check: Callable[[Any, str], Value]
) -> Value | tuple[Value, ...]:
    """Check one number for all arms, or a list of one number per arm."""
    return check(value, name) if in_order(value) is None else each_arm(value, name, check)


def fitting(numbers: NDArray[Entry], arms: int, name: str) -> NDArray[Entry]:
    """Return the numbers if there is one for all arms or one per arm; else raise ValueError."""
    if numbers.ndim and numbers.size != arms:
        raise ValueError(
            f"{name} has {numbers.size} numbers; it must have one for each of {arms} arms"
        )
    return numbers


def set_fields(process: object, **values: object) -> None:
    """Set fields of a frozen dataclass to checked values, in its `__post_init__`."""
    for name, value in values.items():
        object.__setattr__(process, name, value)
