"""States as trees: a state is a record of arrays and of other records, and this takes it apart.

A learner's state is a NamedTuple. Each of its fields is an array, or is itself a NamedTuple of this
kind, such as the estimates or the fallback learner that it contains. Code that saves, copies,
compares or resizes states works on the leaves, which are the arrays by their dotted names, and need
not know how deep a state is nested.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

State = TypeVar("State")
Array = NDArray[Any]


def leaves(state: Any) -> dict[str, Array]:
    """The arrays of a state by their dotted names ("means.sums"), in the order of the fields."""
    found: dict[str, Array] = {}
    for name, part in state._asdict().items():
        if isinstance(part, np.ndarray):
            found[name] = part
        else:
            found |= {f"{name}.{inner}": array for inner, array in leaves(part).items()}
    return found


def with_leaves(state: State, arrays: Mapping[str, Array]) -> State:
    """A state of the same kind as the given one, made of other arrays under the same names."""
    return mapped(lambda name, _: arrays[name], state)


def mapped(function: Callable[[str, Array], Array], state: State, above: str = "") -> State:
    """A state of the same kind, with `function(name, array)` in the place of each array."""
    parts = {}
    record: Any = state
    for name, part in record._asdict().items():
        path = above + name
        is_leaf = isinstance(part, np.ndarray)
        parts[name] = function(path, part) if is_leaf else mapped(function, part, f"{path}.")
    whole: State = type(record)(**parts)
    return whole


def copied(state: State) -> State:
    """A state with arrays of its own."""
    return mapped(lambda _, array: array.copy(), state)


def identical(one: Any, other: Any) -> bool:
    """Whether two states have the same arrays, bit for bit; two NaN of the same bits are equal."""
    first, second = leaves(one), leaves(other)
    return first.keys() == second.keys() and all(
        _has_same_bits(array, second[name]) for name, array in first.items()
    )


def _has_same_bits(one: Array, other: Array) -> bool:
    same_kind = one.dtype == other.dtype and one.shape == other.shape
    return same_kind and one.tobytes() == other.tobytes()
