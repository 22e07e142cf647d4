"""Many contexts at once, all known beforehand, as a table: numbers as they are, text one-hot.

The kinds of the features need not be declared: what has text somewhere is text everywhere, and has
a coordinate `name=value` for each of its values.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.features.encoder import NUMBER, UNKNOWN, encoder_for
from belated.features.flattening import MOST_NAMES, Value, flattened, shortened

Kinds = dict[str, str | list[str]]


class ContextTable(NamedTuple):
    """Contexts as a row of finite numbers each; `names` has the name of each coordinate.

    `scaled` has, for each coordinate, whether it holds numbers of any size rather than 0 and 1.
    """

    names: tuple[str, ...]
    values: Floats
    scaled: NDArray[np.bool_]


def table_of(
    contexts: Sequence[Any],
    unit: str,
    most_coordinates: int = MOST_NAMES,
    most_values: int | None = None,
) -> ContextTable:
    """The table of these contexts; an error names the place of the first bad one in this unit.

    A number that is not there is the mean of those that are. Text that is not there counts
    nowhere, nor does a value of a name that is not among its `most_values` most frequent ones.
    """
    rows = [dict(pairs) for pairs in _each(contexts, unit, flattened)]
    kinds = _kinds_in(rows, most_values)
    _check_size(kinds, most_coordinates)
    encoder = encoder_for(kinds, 0)
    told = (_told(row, kinds) for row in rows)
    values = np.array(list(_each(told, unit, encoder.encode))).reshape(len(rows), encoder.width)
    unknown = values == UNKNOWN
    means = np.where(unknown, 0.0, values).sum(axis=0) / np.maximum((~unknown).sum(axis=0), 1)
    names = tuple(each for name, kind in kinds.items() for each in _coordinates(name, kind))
    return ContextTable(names, np.where(unknown, means, values), encoder.scaled)


def _each(values: Iterable[Any], unit: str, made: Callable[[Any], Any]) -> Iterator[Any]:
    """What is made of each value; an error names its place."""
    for place, value in enumerate(values, 1):
        try:
            yield made(value)
        except ValueError as error:
            raise ValueError(f"{unit} {place}: {error}") from None


def _kinds_in(rows: Sequence[Mapping[str, Value]], most_values: int | None) -> Kinds:
    """The kind of each name that has a value somewhere: a number, or the values of its text."""
    found: dict[str, list[Value]] = {}
    for row in rows:
        for name, value in row.items():
            if value is not None:
                found.setdefault(name, []).append(value)
    return {
        name: [each for each, _ in Counter(map(str, values)).most_common(most_values)]
        if any(isinstance(value, str) for value in values)
        else NUMBER
        for name, values in found.items()
    }


def _told(row: Mapping[str, Value], kinds: Kinds) -> dict[str, Value]:
    """What a row says in these kinds: a number as it is, and other values as text that is known."""
    told: dict[str, Value] = {}
    for name, value in row.items():
        kind = kinds.get(name)
        if value is None or kind is None:
            continue
        if kind == NUMBER:
            told[name] = value
        elif str(value) in kind:
            told[name] = str(value)
    return told


def _coordinates(name: str, kind: str | list[str]) -> list[str]:
    """The names of the coordinates of a feature."""
    return [name] if isinstance(kind, str) else [f"{name}={value}" for value in kind]


def _check_size(kinds: Kinds, most: int) -> None:
    """Refuse features with more coordinates than this."""
    sizes = {name: len(_coordinates(name, kind)) for name, kind in kinds.items()}
    count = sum(sizes.values())
    if count > most:
        name = max(sizes, key=lambda each: sizes[each])
        raise ValueError(
            f"the contexts have {count} coordinates, {sizes[name]} of them for {shortened(name)}; "
            f"there may be {most}, so leave features out"
        )
