"""Contexts as pairs of a name and a plain value, whatever they were given as."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from belated.checks import in_order

Value = float | int | bool | str | None
PLAIN = (float, int, bool, str, type(None))
MOST_NAMES = 1000
MOST_NESTED = 10
MOST_LETTERS = 200  # of a name, those around it included
LARGEST = 1e100  # squares of larger numbers, and their sums, would overflow


def flattened(context: Any) -> list[tuple[str, Value]]:
    """The names and values of a context; those of a list are name.0, name.1, ..., nested ones a.b.

    A sequence or an array is a context whose names are 0, 1, 2, ...
    """
    found: list[tuple[str, Value]] = []
    for name, value in items_of(context):
        if type(name) is str and type(value) in PLAIN and len(name) <= MOST_LETTERS:
            found.append((name, value))
        else:
            _add(found, str(name), value, 1)
    if len(found) > MOST_NAMES:
        raise ValueError(f"context has {len(found)} names; there may be {MOST_NAMES}")
    return found


def items_of(context: Any) -> Iterator[tuple[Any, Any]]:
    """The names and values of a context, in order, as they were given."""
    if isinstance(context, Mapping):
        return iter(context.items())
    values = in_order(context)
    if values is None:
        raise ValueError(
            f"context is {shortened(context)}; it must be a dict, a sequence or an array of "
            "one dimension"
        )
    return ((str(k), value) for k, value in enumerate(values))


def _add(found: list[tuple[str, Value]], name: str, value: Any, depth: int) -> None:
    """Add a value under its name, and all that is nested in it."""
    if depth > MOST_NESTED:
        raise ValueError(
            f"context is nested more than {MOST_NESTED} deep at {shortened(name)}; it may not be"
        )
    if len(found) > MOST_NAMES:
        raise ValueError(f"context has more than {MOST_NAMES} names; there may be no more")
    if len(name) > MOST_LETTERS:
        raise ValueError(
            f"context has the name {shortened(name)} of {len(name)} letters; a name, with those "
            f"around it, may have {MOST_LETTERS}"
        )
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, PLAIN):
        found.append((name, value))
        return
    if not isinstance(value, Mapping) and in_order(value) is None:
        raise ValueError(
            f"{shortened(name)} is {shortened(value)}; a feature must be a number, true or false, "
            "text, None, a list or a dict"
        )
    for inner, each in items_of(value):
        _add(found, f"{name}.{inner}", each, depth + 1)


def number_in(name: str, value: Value) -> float:
    """A number, or 0 or 1 for false or true; an error for anything else."""
    if isinstance(value, str) or value is None:
        raise ValueError(f"{shortened(name)} is {shortened(value)}; it must be a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not -LARGEST <= number <= LARGEST:
        raise ValueError(
            f"{shortened(name)} is {shortened(value)}; it must be a finite number of at most "
            f"{LARGEST:g}"
        )
    return number


def shortened(value: Any) -> str:
    """A value as text for a message, in one line and cut if it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def plain_copy(context: Any) -> Any:
    """A copy of a context, of which flattening found all to be well, in types that JSON has."""
    if isinstance(context, Mapping):
        return {
            (name if type(name) is str else str(name)): (
                value if type(value) in PLAIN else plain_copy(value)
            )
            for name, value in context.items()
        }
    if isinstance(context, np.generic):
        return context.item()
    values = in_order(context)
    if values is None:
        return context
    return [each if type(each) in PLAIN else plain_copy(each) for each in values]
