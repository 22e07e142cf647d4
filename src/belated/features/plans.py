"""Plans: how contexts of one shape are encoded, found once and then used without looking names up.

The shape of a dict is its names, in order, and the types of its values. A plan gives the very bits
that the encoder gives without it, or nothing where a value is odd, so that the encoder says why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Counts, Floats
from belated.features.flattening import LARGEST, MOST_LETTERS, MOST_NAMES, PLAIN, Value
from belated.features.hashing import place_of

PLAIN_TYPES = frozenset(PLAIN)
MOST_PLANS = 64  # shapes that an encoder keeps plans of; others take the longer way
SAFE_SQUARES = 0.1 * LARGEST * LARGEST  # no number of a vector with such a square is too large


@dataclass(frozen=True)
class Place:
    """The coordinates of one declared feature.

    Its number is at `first`. An optional number is followed by a sign of its absence. If it has
    categories, each has a coordinate, counted from `first`.
    """

    first: int
    optional: bool = False
    categories: Mapping[Value, int] | None = None


class Plan(Protocol):
    """How the values of a context of this shape, in order, become coordinates."""

    def coordinates(self, values: Sequence[Value]) -> Floats | None: ...


class HashedPlan(NamedTuple):
    """All values add up, in order, at the places of their names; those of text depend on it.

    `texts` and `absent` are the positions of text, with its name, and of values that are None.
    """

    places: Counts
    signs: Floats
    texts: Sequence[tuple[int, str]]
    absent: Sequence[int]
    bits: int

    def coordinates(self, values: Sequence[Value]) -> Floats | None:
        places = self.places
        if self.texts or self.absent:
            values, places = list(values), places.copy()
            for position, name in self.texts:
                places[position], values[position] = place_of(
                    f"{name}={values[position]}", self.bits
                )
            for position in self.absent:
                values[position] = 0.0
        numbers = numbers_in(values)
        if numbers is None:
            return None
        weights = numbers * self.signs
        return np.bincount(places, weights, 1 << self.bits).astype(np.float64, copy=False)


class DeclaredPlan(NamedTuple):
    """Numbers go to their places, over `start`, which has what is absent.

    `positions` are those of the numbers among the values; `categories` and `texts` are the
    positions of other values, with the first place of the feature and its categories, and with
    its name. Text is hashed into coordinates from `first_hashed` on. If `is_whole`, the values are
    the coordinates.
    """

    start: Floats
    positions: Sequence[int]
    places: NDArray[np.intp]
    categories: Sequence[tuple[int, int, Mapping[Value, int]]]
    texts: Sequence[tuple[int, str]]
    first_hashed: int
    bits: int
    is_whole: bool

    def coordinates(self, values: Sequence[Value]) -> Floats | None:
        if self.is_whole:
            return numbers_in(values)
        numbers = numbers_in([values[position] for position in self.positions])
        if numbers is None:
            return None
        raw = self.start.copy()
        raw[self.places] = numbers
        for position, first, categories in self.categories:
            category = categories.get(values[position])
            if category is None:
                return None
            raw[first + category] = 1.0
        for position, name in self.texts:
            at, sign = place_of(f"{name}={values[position]}", self.bits)
            raw[self.first_hashed + at] += sign
        return raw


def hashed_plan(names: Sequence[str], types: Sequence[type], bits: int) -> HashedPlan | None:
    """The plan for dicts of any names, of this shape; None if there is no plan for it."""
    if len(names) > MOST_NAMES or not PLAIN_TYPES.issuperset(types):
        return None
    if any(len(name) > MOST_LETTERS for name in names):
        return None
    kinds = list(enumerate(zip(names, types, strict=True)))
    texts = [(k, name) for k, (name, kind) in kinds if kind is str]
    absent = [k for k, (_, kind) in kinds if kind is NoneType]
    places, signs = map(np.array, zip(*(place_of(name, bits) for name in names), strict=True))
    signs[[k for k, _ in texts]] = 1.0  # that of a text is found with its place
    return HashedPlan(places, signs, texts, absent, bits)


def declared_plan(
    names: Sequence[str],
    types: Sequence[type],
    declared: Mapping[str, Place],
    absent: Sequence[float],
    hashed: tuple[int, int] | None,
) -> DeclaredPlan | None:
    """The plan for dicts of declared names, of this shape; None if there is no plan for it.

    `absent` are the coordinates where nothing is known, and `hashed` is the first coordinate of
    hashed text, and in how many bits it is hashed.
    """
    if not (declared.keys() >= set(names) and PLAIN_TYPES.issuperset(types)):
        return None
    start, numbers, categories, texts = np.array(absent), {}, [], []
    for k, (name, kind) in enumerate(zip(names, types, strict=True)):
        place = declared[name]
        if kind is NoneType:
            continue
        if place.categories is not None:
            categories.append((k, place.first, place.categories))
        elif kind is not str:
            numbers[k] = place.first
            start[place.first + place.optional] = 0.0  # it is there
        elif hashed is not None:
            texts.append((k, name))
        else:
            return None
    places = list(numbers.values())
    is_whole = places == list(range(len(absent)))
    positions, at = list(numbers), np.array(places, np.intp)
    return DeclaredPlan(start, positions, at, categories, texts, *(hashed or (0, 0)), is_whole)


def numbers_in(values: Sequence[Value] | NDArray[Any]) -> Floats | None:
    """Numbers as a new array, if all of them are small enough for sure; else None."""
    try:
        numbers = np.array(values, np.float64)
    except OverflowError:
        return None
    return numbers if numbers.dot(numbers) <= SAFE_SQUARES else None
