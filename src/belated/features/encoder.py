"""The numbers that stand for a context: a coordinate for each declared feature, or hashed ones.

Where a number is not known, its coordinate is infinite (`UNKNOWN`): a learner takes that for the
mean of all numbers seen there. Everything else that is absent is 0.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.checks import as_count, in_order
from belated.features.flattening import (
    LARGEST,
    MOST_LETTERS,
    MOST_NAMES,
    Value,
    flattened,
    number_in,
    plain_copy,
    shortened,
)
from belated.features.hashing import place_of
from belated.features.plans import (
    MOST_PLANS,
    Place,
    Plan,
    declared_plan,
    hashed_plan,
    numbers_in,
)

UNKNOWN = np.inf
TEXT = {str}
MOST_HASH_BITS = 8
NUMBER, OPTIONAL = "number", "optional number"
Features = int | Sequence[str] | Mapping[str, str | Sequence[Any]] | None


class Encoder(ABC):
    """Turns contexts into coordinates; a subclass says how.

    `width` is the number of coordinates. `scaled` has, for each of them, whether it holds numbers
    of any size, which a learner scales, rather than signs of what is there and what is not.
    """

    width: int
    scaled: NDArray[np.bool_]

    def __init__(self) -> None:
        self._plans: dict[tuple[tuple[str, ...], tuple[type, ...]], Plan] = {}

    def encode(self, context: Any) -> Floats:
        """The coordinates of a context; an error that names what is wrong with it."""
        return self.frozen(context)[0]

    def frozen(self, context: Any) -> tuple[Floats, Any]:
        """The coordinates of a context, and a copy of it in types that JSON has."""
        if type(context) is dict and set(map(type, context)) == TEXT:
            values = tuple(context.values())
            shape = (tuple(context), tuple(map(type, values)))
            plan = self._plans.get(shape)
            if plan is None and len(self._plans) < MOST_PLANS:
                plan = self.planned(*shape)
                if plan is not None:
                    self._plans[shape] = plan
            raw = None if plan is None else plan.coordinates(values)
            if raw is not None:
                return raw, context.copy()
        return self.literal(context), plain_copy(context)

    @abstractmethod
    def literal(self, context: Any) -> Floats:
        """The coordinates of a context, name by name; an error that says what is wrong with it."""

    @abstractmethod
    def planned(self, names: Sequence[str], types: Sequence[type]) -> Plan | None:
        """A plan for dicts of this shape; None if they must be taken name by name."""

    def nothing(self) -> Floats:
        """The coordinates where there is no context: none of them is known."""
        return np.full(self.width, UNKNOWN)


class HashedEncoder(Encoder):
    """Any names: a number counts at the coordinate of its name, text at that of name=text.

    All coordinates are scaled, since numbers and text may share one.
    """

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.bits, self.width = bits, 1 << bits
        self.scaled = np.ones(self.width, dtype=np.bool_)

    def planned(self, names: Sequence[str], types: Sequence[type]) -> Plan | None:
        return hashed_plan(names, types, self.bits)

    def literal(self, context: Any) -> Floats:
        raw, bits = [0.0] * self.width, self.bits
        for name, value in flattened(context):
            if value is None:
                continue
            number = 1.0
            if isinstance(value, str):
                name = f"{name}={value}"
            elif type(value) is float and -LARGEST <= value <= LARGEST:
                number = value  # so are almost all values
            else:
                number = number_in(name, value)
            place, sign = place_of(name, bits)
            raw[place] += sign * number
        return np.array(raw)


class DeclaredEncoder(Encoder):
    """Declared names only; text of a feature without a declared kind is hashed."""

    def __init__(self, places: Mapping[str, Place], numbers: int, bits: int | None) -> None:
        super().__init__()
        for name in places:
            if len(name) > MOST_LETTERS:
                raise ValueError(
                    f"features has the name {shortened(name)} of {len(name)} letters; a name may "
                    f"have {MOST_LETTERS}"
                )
        self.places, self.bits, self.numbers = dict(places), bits, numbers
        self.names = list(places)
        self.width = numbers + (0 if bits is None else 1 << bits)
        self.scaled = np.zeros(self.width, dtype=np.bool_)
        self._absent = [0.0] * self.width
        self._only_numbers = bits is None and self.width == len(places)
        for place in places.values():
            if place.categories is None:
                self.scaled[place.first] = True
                self._absent[place.first] = UNKNOWN
            if place.optional:
                self._absent[place.first + 1] = 1.0

    def planned(self, names: Sequence[str], types: Sequence[type]) -> Plan | None:
        hashed = None if self.bits is None else (self.numbers, self.bits)
        return declared_plan(names, types, self.places, self._absent, hashed)

    def literal(self, context: Any) -> Floats:
        if isinstance(context, np.ndarray) and self._only_numbers:
            numbers = numbers_in(context) if _is_plain(context, self.width) else None
            if numbers is not None:
                return numbers
        raw = self._absent.copy()
        for name, value in self._named(context):
            place = self.places.get(name)
            if place is None:
                known = ", ".join(map(shortened, self.names[:10])) or "none"
                raise ValueError(
                    f"context has the name {shortened(name)}, which features does not declare; it "
                    f"declares {known}{', ...' if len(self.names) > 10 else ''}"
                )
            if value is None:
                continue
            if place.categories is not None:
                raw[place.first + self._category(name, value, place.categories)] = 1.0
            elif isinstance(value, str) and self.bits is not None:
                at, sign = place_of(f"{name}={value}", self.bits)
                raw[self.numbers + at] += sign
            else:
                raw[place.first] = number_in(name, value)
                if place.optional:
                    raw[place.first + 1] = 0.0
        return np.array(raw)

    def _named(self, context: Any) -> list[tuple[str, Value]]:
        """The names and values of a context; a sequence has the declared features in order."""
        if isinstance(context, Mapping):
            return flattened(context)
        pairs = flattened(context)
        if len(pairs) != len(self.names):
            raise ValueError(
                f"context has {len(pairs)} values; features declares {len(self.names)}, and a "
                "sequence must have one for each"
            )
        return [(name, value) for name, (_, value) in zip(self.names, pairs, strict=True)]

    @staticmethod
    def _category(name: str, value: Value, categories: Mapping[Value, int]) -> int:
        if value not in categories:
            known = ", ".join(map(shortened, list(categories)[:10]))
            raise ValueError(f"{shortened(name)} is {shortened(value)}; it must be one of {known}")
        return categories[value]


def _is_plain(context: NDArray[Any], width: int) -> bool:
    """Whether an array has so many numbers, of a type that fits into floats of 64 bits."""
    kind = context.dtype
    return context.shape == (width,) and kind.kind in "fiub" and kind.itemsize <= 8


def encoder_for(features: Features, hash_bits: int) -> Encoder:
    """The encoder of these features, or of any names if none are declared.

    Features are so many numbers; or names, each of which may have a number or text; or, by name,
    "number", "optional number" or a list of categories.
    """
    if features is None:
        return HashedEncoder(hash_bits)
    if isinstance(features, (int, np.integer)) and not isinstance(features, bool):
        count = as_count(features, "features", 0, MOST_NAMES)
        return DeclaredEncoder({str(k): Place(k) for k in range(count)}, count, None)
    if isinstance(features, Mapping):
        return _by_kind(features)
    names = in_order(features)
    if names is None or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"features is {shortened(features)}; it must be a number of features, a list of names, "
            "or a dict of kinds by name"
        )
    if len(set(names)) < len(names) or len(names) > MOST_NAMES:
        raise ValueError(f"features must be at most {MOST_NAMES} names, each of them once")
    places = {name: Place(k) for k, name in enumerate(names)}
    return DeclaredEncoder(places, len(places), hash_bits)


def _by_kind(features: Mapping[str, Any]) -> DeclaredEncoder:
    """The encoder of features whose kinds are declared."""
    places: dict[str, Place] = {}
    first = 0
    for name, kind in features.items():
        if not isinstance(name, str):
            raise ValueError(f"features names {shortened(name)}; a name must be text")
        if kind in (NUMBER, OPTIONAL):
            places[name] = Place(first, optional=kind == OPTIONAL)
            first += 1 + (kind == OPTIONAL)
            continue
        values = in_order(kind)
        plain = values is not None and all(isinstance(each, (str, int)) for each in values)
        if not values or not plain or len(set(values)) < len(values):
            raise ValueError(
                f"the feature {shortened(name)} is {shortened(kind)}; it must be {NUMBER!r}, "
                f"{OPTIONAL!r} or a list of different categories"
            )
        places[name] = Place(first, categories={each: k for k, each in enumerate(values)})
        first += len(values)
    if first > MOST_NAMES:
        raise ValueError(f"features has {first} coordinates; there may be {MOST_NAMES}")
    return DeclaredEncoder(places, first, None)
