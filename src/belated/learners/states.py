"""States as trees of arrays, and the functions that take them apart and put them together.

A learner's state is a NamedTuple. Each of its fields is an array, or is itself a NamedTuple of this
kind, such as the estimates or the fallback learner that it contains. Code that saves, copies,
compares or resizes states works on the leaves, which are the arrays by their dotted names, and need
not know how deep a state is nested.

A field whose array depends on the number of arms says so in its type. The last dimension of an
`ArmFloats` or `ArmCounts` has one place for each arm; `ArmRows` has one row for each, in its first
dimension. A `FreshFloats` or `FreshCounts` also depends on how many arms there are, but has no
place for each: it starts afresh when the arms change.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Counts, Floats

State = TypeVar("State")
Array = NDArray[Any]

BY_ARM = "one place for each arm in the last dimension"
BY_ROW = "one row for each arm in the first dimension"
AFRESH = "starts afresh when the arms change"
ArmFloats = Annotated[Floats, BY_ARM]
ArmCounts = Annotated[Counts, BY_ARM]
ArmRows = Annotated[Floats, BY_ROW]
FreshFloats = Annotated[Floats, AFRESH]
FreshCounts = Annotated[Counts, AFRESH]


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


def copy_into(state: Any, other: Any) -> None:
    """Copy the arrays of another state of the same kind and size into those of a state."""
    sources = leaves(other)
    for name, array in leaves(state).items():
        array[...] = sources[name]


def identical(one: Any, other: Any) -> bool:
    """Whether two states have the same arrays, bit for bit; two NaN of the same bits are equal."""
    first, second = leaves(one), leaves(other)
    return first.keys() == second.keys() and all(
        _has_same_bits(array, second[name]) for name, array in first.items()
    )


def with_arms(state: State, fresh: State, kept: Sequence[int]) -> State:
    """A state for other arms: what `state` knows of the arms kept, and new arms as in `fresh`.

    `fresh` is a starting state that has the kept arms first and the new ones after them. Arrays
    marked by arm or by row keep the places of the kept arms, arrays marked afresh are those of
    `fresh`, and all others are copied from `state`.
    """
    before, marks = leaves(state), _marks(fresh)

    def chosen(name: str, array: Array) -> Array:
        if marks[name] == AFRESH:
            return array
        if marks[name] == BY_ROW:
            array[: len(kept)] = before[name][list(kept)]
            return array
        if marks[name] != BY_ARM:
            return before[name].copy()
        array[..., : len(kept)] = before[name][..., list(kept)]
        return array

    return mapped(chosen, fresh)


def _marks(record: Any, above: str = "") -> dict[str, Any]:
    """How each leaf depends on the arms: the mark in the type of its field, or None."""
    hints = get_type_hints(type(record), include_extras=True)
    found: dict[str, Any] = {}
    for name, part in record._asdict().items():
        if isinstance(part, np.ndarray):
            found[above + name] = next(iter(getattr(hints[name], "__metadata__", ())), None)
        else:
            found |= _marks(part, f"{above}{name}.")
    return found


def _has_same_bits(one: Array, other: Array) -> bool:
    same_kind = one.dtype == other.dtype and one.shape == other.shape
    return same_kind and one.tobytes() == other.tobytes()
