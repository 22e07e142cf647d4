"""Lanes in plain Python: four floats, and the functions of `lanes` on them, bit for bit.

Four Python floats are faster than a numpy array of four, and compare and round just like a vector
register. Python raises an error where a processor divides by zero, so division looks out for it.
"""

import math
from collections.abc import Callable

from belated.arrays import Floats
from belated.numerics.fused_multiply_add import multiply_add

ROUNDER = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the rounded integer in the low bits


class PlainLanes:
    """A vector of four floats with the arithmetic of a float."""

    __slots__ = ("a", "b", "c", "d")
    __array_ufunc__ = None  # numbers of numpy leave arithmetic with lanes to this class

    def __init__(self, a: float, b: float, c: float, d: float) -> None:
        self.a, self.b, self.c, self.d = a, b, c, d

    def __add__(self, other: "Operand") -> "PlainLanes":
        o = lanes_of(other)
        return PlainLanes(self.a + o.a, self.b + o.b, self.c + o.c, self.d + o.d)

    def __mul__(self, other: "Operand") -> "PlainLanes":
        o = lanes_of(other)
        return PlainLanes(self.a * o.a, self.b * o.b, self.c * o.c, self.d * o.d)

    def __sub__(self, other: "Operand") -> "PlainLanes":
        o = lanes_of(other)
        return PlainLanes(self.a - o.a, self.b - o.b, self.c - o.c, self.d - o.d)

    def __truediv__(self, other: "Operand") -> "PlainLanes":
        return by_lane(quotient, self, other)

    def __rsub__(self, other: float) -> "PlainLanes":
        return spread(other) - self

    def __rtruediv__(self, other: float) -> "PlainLanes":
        return by_lane(quotient, other, self)

    __radd__ = __add__
    __rmul__ = __mul__


Operand = PlainLanes | float


def lanes_of(x: Operand) -> PlainLanes:
    """The lanes themselves, or a number in every lane."""
    return x if type(x) is PlainLanes else spread(x)  # type: ignore[arg-type]


def by_lane(function: Callable[..., float], *arguments: Operand) -> PlainLanes:
    """Apply a function of numbers lane by lane."""
    given = [lanes_of(argument) for argument in arguments]
    return PlainLanes(
        function(*[x.a for x in given]),
        function(*[x.b for x in given]),
        function(*[x.c for x in given]),
        function(*[x.d for x in given]),
    )


def quotient(x: float, y: float) -> float:
    """x / y; infinite or NaN if y is zero."""
    if y != 0.0:
        return x / y
    return x * math.copysign(math.inf, y)


def spread(x: float) -> PlainLanes:
    """A vector with x in every lane."""
    x = float(x)
    return PlainLanes(x, x, x, x)


def side_by_side(a: float, b: float, c: float, d: float) -> PlainLanes:
    """The vector (a, b, c, d)."""
    return PlainLanes(float(a), float(b), float(c), float(d))


def fused(a: Operand, b: Operand, c: Operand) -> PlainLanes:
    """a * b + c, rounded once."""
    x, y, z = lanes_of(a), lanes_of(b), lanes_of(c)
    return PlainLanes(
        multiply_add(x.a, y.a, z.a),
        multiply_add(x.b, y.b, z.b),
        multiply_add(x.c, y.c, z.c),
        multiply_add(x.d, y.d, z.d),
    )


def larger(a: Operand, b: Operand) -> PlainLanes:
    """max(a, b), lane by lane; b if one of them is NaN."""
    x, y = lanes_of(a), lanes_of(b)
    return PlainLanes(max(y.a, x.a), max(y.b, x.b), max(y.c, x.c), max(y.d, x.d))


def smaller(a: Operand, b: Operand) -> PlainLanes:
    """min(a, b), lane by lane; b if one of them is NaN."""
    x, y = lanes_of(a), lanes_of(b)
    return PlainLanes(min(y.a, x.a), min(y.b, x.b), min(y.c, x.c), min(y.d, x.d))


def magnitude(x: PlainLanes) -> PlainLanes:
    """|x|, lane by lane."""
    return PlainLanes(abs(x.a), abs(x.b), abs(x.c), abs(x.d))


def unless_below(value: PlainLanes, x: PlainLanes, limit: float) -> PlainLanes:
    """The value where x >= limit, and zero elsewhere, lane by lane."""
    return PlainLanes(
        value.a if x.a >= limit else 0.0,
        value.b if x.b >= limit else 0.0,
        value.c if x.c >= limit else 0.0,
        value.d if x.d >= limit else 0.0,
    )


def power_of_two(rounded: PlainLanes) -> PlainLanes:
    """2^n, given n + ROUNDER."""
    return PlainLanes(
        math.ldexp(1.0, int(rounded.a - ROUNDER)),
        math.ldexp(1.0, int(rounded.b - ROUNDER)),
        math.ldexp(1.0, int(rounded.c - ROUNDER)),
        math.ldexp(1.0, int(rounded.d - ROUNDER)),
    )


def lane(x: PlainLanes, k: int) -> float:
    """The k-th of the four numbers of a vector."""
    return (x.a, x.b, x.c, x.d)[k]


def load_whole(array: Floats, i: int) -> PlainLanes:
    """The vector array[i : i + 4], which must lie inside the array."""
    return PlainLanes(*array[i : i + 4].tolist())


def store_whole(array: Floats, i: int, x: PlainLanes) -> None:
    """Store a vector as array[i : i + 4], which must lie inside the array."""
    array[i : i + 4] = x.a, x.b, x.c, x.d


def load_part(array: Floats, i: int, fill: float) -> PlainLanes:
    """The vector array[i : i + 4], with `fill` in the lanes beyond the end of the array."""
    inside = array[i : i + 4].tolist()
    return PlainLanes(*inside, *[fill] * (4 - len(inside)))


def store_part(array: Floats, i: int, x: PlainLanes) -> None:
    """Store a vector as array[i : i + 4]; lanes beyond the end of the array are dropped."""
    inside = array[i : i + 4]
    inside[:] = (x.a, x.b, x.c, x.d)[: inside.size]
