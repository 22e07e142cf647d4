"""Contexts as rows of numbers for a linear model: numbers as they are, text one-hot.

Numbers are scaled to mean 0 and deviation 1, cut at 4, and divided by the square root of how many
coordinates there are; the last coordinate is 1. Truth values are 0 or 1. Lists and objects inside a
context are spread out, as `outer.inner`.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from belated.arrays import Floats

MOST_VALUES = 50  # different texts of one name; rarer ones share a coordinate
MOST_COORDINATES = 500
CUT = 4.0


def encoded(contexts: Sequence[Mapping[str, Any]]) -> Floats:
    """Return a row of numbers for each context; the last is 1."""
    flat = [dict(_flat(context, "")) for context in contexts]
    names = dict.fromkeys(name for each in flat for name in each)
    columns = [column for name in names for column in _columns([each.get(name) for each in flat])]
    if len(columns) > MOST_COORDINATES:
        raise ValueError(
            f"the contexts have {len(columns)} coordinates; a model takes at most "
            f"{MOST_COORDINATES}, so leave some out or use estimators without a model"
        )
    ones = np.ones(len(flat))
    return np.stack([*(column / math.sqrt(len(columns)) for column in columns), ones], axis=1)


def _flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the plain values inside a context with their names."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _flat(part, f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)):
        for place, part in enumerate(value):
            yield from _flat(part, f"{name}.{place}")
    else:
        yield name, value


def _columns(values: Sequence[Any]) -> list[Floats]:
    """Return the coordinates of one name: one for numbers, one for each text."""
    if not any(isinstance(value, str) for value in values):
        numbers = np.array([float(value or 0.0) for value in values])
        if not np.isfinite(numbers).all():
            raise ValueError("a context has a number that is not finite; it must be finite")
        spread = float(numbers.std())
        return [np.clip((numbers - numbers.mean()) / spread, -CUT, CUT)] if spread else []
    texts = [str(value) for value in values]
    common = [text for text, _ in Counter(texts).most_common(MOST_VALUES)]
    return [np.array([1.0 if text == each else 0.0 for text in texts]) for each in common]
