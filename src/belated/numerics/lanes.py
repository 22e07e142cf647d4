"""Lanes: vectors of four doubles that one instruction works on, with the same digits everywhere.

A compiler vectorises a loop only if it can prove that the result stays the same, so it never
vectorises a sum, whose order it must keep. Here vectors are explicit: a `Lanes` value is one vector
register in compiled code and four floats in plain Python (`plain_lanes`), and supports the
arithmetic of a float. Sums are added up in a fixed order and the exponential is a polynomial, so
that results do not depend on the machine's vector width or mathematical library.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from belated.arrays import Floats
from belated.compiled.jit import config, inlined
from belated.numerics import plain_lanes
from belated.numerics.plain_lanes import ROUNDER

Lanes = Any  # supports the arithmetic of a float
Builder = Any
Generated = tuple[Any, Callable[..., Any]]

LANES = 4
DOUBLE, WORD = ir.DoubleType(), ir.IntType(64)
VECTOR, WORDS = ir.VectorType(DOUBLE, LANES), ir.VectorType(WORD, LANES)
FIRST = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)  # shuffle mask: lane 0 four times


class LanesType(types.Type):
    """The numba type of a `Lanes` value."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


LANES_TYPE = LanesType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


def _vector(builder: Builder, value: Any) -> Any:
    """The value as an LLVM vector; a scalar is copied into every lane."""
    if isinstance(value.type, ir.VectorType):
        return value
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), value, _index(0))
    return builder.shuffle_vector(one, one, FIRST)


def _index(k: int) -> Any:
    return ir.Constant(ir.IntType(32), k)


def _arithmetic(operation: Any, instruction: str) -> None:
    """Register an operation with numba for two lanes, and for lanes and a number."""

    @infer_global(operation)
    class Template(AbstractTemplate):
        def generic(self, arguments: Any, keywords: Any) -> Any:
            if len(arguments) != 2 or LANES_TYPE not in arguments:
                return None
            if not all(a == LANES_TYPE or isinstance(a, types.Number) for a in arguments):
                return None
            kinds = [a if a == LANES_TYPE else types.float64 for a in arguments]
            return signature(LANES_TYPE, *kinds)

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        left, right = (_vector(builder, argument) for argument in arguments)
        return getattr(builder, instruction)(left, right)

    for kinds in (LANES_TYPE, LANES_TYPE), (LANES_TYPE, types.float64), (types.float64, LANES_TYPE):
        lower_builtin(operation, *kinds)(generate)


for _operation, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _arithmetic(_operation, _instruction)


def _in_python(plain: Callable[..., Any]) -> Callable[[Any], Any]:
    """A decorator: `plain` replaces the intrinsic where kernels run as plain Python."""

    def choose(generator: Any) -> Any:
        return plain if config.DISABLE_JIT else intrinsic(generator)

    return choose


def _call(builder: Builder, name: str, *arguments: Any) -> Any:
    """Emit a call of an LLVM intrinsic on vectors."""
    kind = ir.FunctionType(VECTOR, [VECTOR] * len(arguments))
    function = cgutils.get_or_insert_function(builder.module, kind, f"{name}.v{LANES}f64")
    return builder.call(function, [_vector(builder, argument) for argument in arguments])


@_in_python(plain_lanes.spread)
def spread(context: Any, x: Any) -> Generated:
    """A vector with x in every lane."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        return _vector(builder, arguments[0])

    return LANES_TYPE(types.float64), generate


@_in_python(plain_lanes.side_by_side)
def side_by_side(context: Any, a: Any, b: Any, c: Any, d: Any) -> Generated:
    """The vector (a, b, c, d)."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        lanes = ir.Constant(VECTOR, ir.Undefined)
        for k, value in enumerate(arguments):
            lanes = builder.insert_element(lanes, value, _index(k))
        return lanes

    return LANES_TYPE(*[types.float64] * LANES), generate


@_in_python(plain_lanes.fused)
def fused(context: Any, a: Any, b: Any, c: Any) -> Generated:
    """a * b + c, rounded once; at least one argument must be lanes."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        return _call(builder, "llvm.fma", *arguments)

    kinds = [kind if kind == LANES_TYPE else types.float64 for kind in (a, b, c)]
    return signature(LANES_TYPE, *kinds), generate


@_in_python(plain_lanes.larger)
def larger(context: Any, a: Any, b: Any) -> Generated:
    """max(a, b), lane by lane."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        left, right = (_vector(builder, argument) for argument in arguments)
        return builder.select(builder.fcmp_ordered(">", left, right), left, right)

    kinds = [kind if kind == LANES_TYPE else types.float64 for kind in (a, b)]
    return signature(LANES_TYPE, *kinds), generate


@_in_python(plain_lanes.smaller)
def smaller(context: Any, a: Any, b: Any) -> Generated:
    """min(a, b), lane by lane."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        left, right = (_vector(builder, argument) for argument in arguments)
        return builder.select(builder.fcmp_ordered("<", left, right), left, right)

    kinds = [kind if kind == LANES_TYPE else types.float64 for kind in (a, b)]
    return signature(LANES_TYPE, *kinds), generate


@_in_python(plain_lanes.magnitude)
def magnitude(context: Any, x: Any) -> Generated:
    """|x|, lane by lane."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        return _call(builder, "llvm.fabs", arguments[0])

    return LANES_TYPE(LANES_TYPE), generate


@_in_python(plain_lanes.unless_below)
def unless_below(context: Any, value: Any, x: Any, limit: Any) -> Generated:
    """The value where x >= limit, and zero elsewhere, lane by lane."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        value, x, limit = (_vector(builder, argument) for argument in arguments)
        above = builder.fcmp_ordered(">=", x, limit)
        return builder.select(above, value, ir.Constant(VECTOR, None))

    return LANES_TYPE(LANES_TYPE, LANES_TYPE, types.float64), generate


@_in_python(plain_lanes.power_of_two)
def power_of_two(context: Any, rounded: Any) -> Generated:
    """2^n, given n + ROUNDER, whose low bits hold the integer n."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        bias = ir.Constant(WORDS, [1023] * LANES)
        place = ir.Constant(WORDS, [52] * LANES)
        bits = builder.shl(builder.add(builder.bitcast(arguments[0], WORDS), bias), place)
        return builder.bitcast(bits, VECTOR)

    return LANES_TYPE(LANES_TYPE), generate


@_in_python(plain_lanes.lane)
def lane(context: Any, x: Any, k: Any) -> Generated:
    """The k-th of the four numbers of a vector."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        return builder.extract_element(*arguments)

    return types.float64(LANES_TYPE, types.int64), generate


def _pointer(context: Any, builder: Builder, kind: Any, array: Any, place: Any) -> Any:
    """The address of an entry of a one-dimensional array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [place])


@_in_python(plain_lanes.load_whole)
def load_whole(context: Any, array: Any, i: Any) -> Generated:
    """The vector array[i : i + 4], which must lie inside the array."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], *arguments)
        return builder.load(builder.bitcast(pointer, VECTOR.as_pointer()), align=8)

    return LANES_TYPE(array, types.int64), generate


@_in_python(plain_lanes.store_whole)
def store_whole(context: Any, array: Any, i: Any, x: Any) -> Generated:
    """Store a vector as array[i : i + 4], which must lie inside the array."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        array, i, x = arguments
        pointer = _pointer(context, builder, signature.args[0], array, i)
        builder.store(x, builder.bitcast(pointer, VECTOR.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.none(array, types.int64, LANES_TYPE), generate


def _inside(context: Any, builder: Builder, kind: Any, array: Any, i: Any) -> Any:
    """A mask of the lanes at i that lie inside the array."""
    size = builder.extract_value(context.make_array(kind)(context, builder, array).shape, 0)
    rest = builder.sub(size, i)
    one = builder.insert_element(ir.Constant(WORDS, ir.Undefined), rest, _index(0))
    all_ = builder.shuffle_vector(one, one, FIRST)
    return builder.icmp_signed("<", ir.Constant(WORDS, list(range(LANES))), all_)


def _masked(builder: Builder, verb: str, result: Any, *arguments: Any) -> Any:
    """Emit a masked load or store of LLVM, which does not touch memory outside the mask."""
    pointer = VECTOR.as_pointer()
    place = "p0" if str(pointer) == "ptr" else f"p0v{LANES}f64"
    name = f"llvm.masked.{verb}.v{LANES}f64.{place}"
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


@_in_python(plain_lanes.load_part)
def load_part(context: Any, array: Any, i: Any, fill: Any) -> Generated:
    """The vector array[i : i + 4], with `fill` in the lanes beyond the end of the array."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        array, i, fill = arguments
        kind = signature.args[0]
        pointer = builder.bitcast(_pointer(context, builder, kind, array, i), VECTOR.as_pointer())
        mask, others = _inside(context, builder, kind, array, i), _vector(builder, fill)
        return _masked(builder, "load", VECTOR, pointer, _index(8), mask, others)

    return LANES_TYPE(array, types.int64, types.float64), generate


@_in_python(plain_lanes.store_part)
def store_part(context: Any, array: Any, i: Any, x: Any) -> Generated:
    """Store a vector as array[i : i + 4]; lanes beyond the end of the array are dropped."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        array, i, x = arguments
        kind = signature.args[0]
        pointer = builder.bitcast(_pointer(context, builder, kind, array, i), VECTOR.as_pointer())
        mask = _inside(context, builder, kind, array, i)
        _masked(builder, "store", ir.VoidType(), x, pointer, _index(8), mask)
        return context.get_dummy_value()

    return types.none(array, types.int64, LANES_TYPE), generate


@inlined
def load(array: Floats, i: int, fill: float, part: bool) -> Lanes:
    """The vector array[i : i + 4]; with `part`, lanes beyond the end of the array hold `fill`.

    A loop over an array loads whole vectors, and once more a part if entries are left. As `part` is
    a literal in each call, the compiler removes the branch from the loop.
    """
    if part:
        return load_part(array, i, fill)
    return load_whole(array, i)


@inlined
def store(array: Floats, i: int, x: Lanes, part: bool) -> None:
    """Store a vector as array[i : i + 4]; with `part`, lanes beyond the end are dropped."""
    if part:
        store_part(array, i, x)
    else:
        store_whole(array, i, x)


@inlined
def whole(size: int) -> int:
    """The largest multiple of four that is at most `size`: where the whole vectors end."""
    return size - size % LANES


@inlined
def across(x: Lanes) -> float:
    """The sum of the four numbers of a vector, in a fixed order."""
    return float((lane(x, 0) + lane(x, 2)) + (lane(x, 1) + lane(x, 3)))


@inlined
def largest(x: Lanes) -> float:
    """The largest of the four numbers of a vector."""
    return float(max(max(lane(x, 0), lane(x, 1)), max(lane(x, 2), lane(x, 3))))


LOG2_E = 1.4426950408889634
LN_2_HIGH, LN_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
LEAST, MOST = -708.0, 709.0  # e^x is subnormal below and infinite above
# (e^r - 1 - r)/r^2 on |r| <= ln(2)/2, fitted at Chebyshev points: relative error of e^r 2e-17
C0, C1, C2, C3, C4 = (
    0.5000000000000001,
    0.16666666666666669,
    0.04166666666662413,
    0.008333333333330062,
    0.0013888888917213717,
)
C5, C6, C7, C8, C9 = (
    0.00019841269863053618,
    2.4801521295954376e-05,
    2.7557268459997064e-06,
    2.7620088445409746e-07,
    2.510038549551032e-08,
)


@inlined
def exponential(x: Lanes) -> Lanes:
    """e^x within two units in the last place; zero for x < -708, and e^709 for x > 709."""
    z = smaller(larger(x, LEAST), MOST)
    rounded = fused(z, LOG2_E, ROUNDER)
    n = rounded - ROUNDER
    r = fused(n, -LN_2_LOW, fused(n, -LN_2_HIGH, z))
    r2 = r * r
    r4 = r2 * r2
    low = fused(fused(r, C3, C2), r2, fused(r, C1, C0))
    high = fused(fused(r, C7, C6), r2, fused(r, C5, C4))
    series = fused(fused(fused(r, C9, C8), r4, high), r4, low)
    value = (1.0 + fused(series, r2, r)) * power_of_two(rounded)
    return unless_below(value, x, LEAST)


# (1 - e^-x)/x on 0 <= x <= 1/8, a minimax fit: relative error of e^-x 5e-17
D0, D1, D2, D3 = (
    0.9999999999999687,
    -0.4999999999936777,
    0.16666666623310153,
    -0.04166665253953636,
)
D4, D5, D6 = 0.008333086596554547, -0.0013865133134883057, 0.00018648548533882508


@inlined
def decay(x: Lanes) -> Lanes:
    """e^-x for 0 <= x <= 1/8 within two units in the last place; invalid for any other x."""
    x2 = x * x
    high = fused(fused(x2, D6, fused(x, D5, D4)), x2, fused(x, D3, D2))
    return 1.0 - x * fused(high, x2, fused(x, D1, D0))


@inlined
def total(values: Floats) -> float:
    """The sum of an array, added up in four lanes in a fixed order."""
    sum_ = spread(0.0)
    end = whole(values.shape[0])
    for i in range(0, end, LANES):
        sum_ = sum_ + load_whole(values, i)
    if end < values.shape[0]:
        sum_ = sum_ + load_part(values, end, 0.0)
    return across(sum_)


@inlined
def least_of(values: Floats) -> float:
    """The smallest number of an array; infinity if it is empty."""
    found = spread(np.inf)
    end = whole(values.shape[0])
    for i in range(0, end, LANES):
        found = smaller(found, load_whole(values, i))
    if end < values.shape[0]:
        found = smaller(found, load_part(values, end, np.inf))
    return -largest(found * -1.0)
