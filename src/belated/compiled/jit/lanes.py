"""Lanes in compiled code: a vector register of four doubles, and what LLVM does with it."""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from belated.compiled.jit.world import REPLACEMENTS
from belated.numerics import plain_lanes as plain
from belated.numerics.lanes import LANES

Builder = Any
Generated = tuple[Any, Callable[..., Any]]

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


def compiled_form_of(plain: Callable[..., Any]) -> Callable[[Any], Any]:
    """A decorator: the intrinsic replaces a plain function of lanes in compiled code."""

    def register(generator: Any) -> Any:
        REPLACEMENTS[plain] = made = intrinsic(generator)
        return made

    return register


def _call(builder: Builder, name: str, *arguments: Any) -> Any:
    """Emit a call of an LLVM intrinsic on vectors."""
    kind = ir.FunctionType(VECTOR, [VECTOR] * len(arguments))
    function = cgutils.get_or_insert_function(builder.module, kind, f"{name}.v{LANES}f64")
    return builder.call(function, [_vector(builder, argument) for argument in arguments])


@compiled_form_of(plain.spread)
def spread(context: Any, x: Any) -> Generated:
    """A vector with x in every lane."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        return _vector(builder, arguments[0])

    return LANES_TYPE(types.float64), generate


@compiled_form_of(plain.side_by_side)
def side_by_side(context: Any, a: Any, b: Any, c: Any, d: Any) -> Generated:
    """The vector (a, b, c, d)."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        lanes = ir.Constant(VECTOR, ir.Undefined)
        for k, value in enumerate(arguments):
            lanes = builder.insert_element(lanes, value, _index(k))
        return lanes

    return LANES_TYPE(*[types.float64] * LANES), generate


@compiled_form_of(plain.fused)
def fused(context: Any, a: Any, b: Any, c: Any) -> Generated:
    """a * b + c, rounded once; at least one argument must be lanes."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        return _call(builder, "llvm.fma", *arguments)

    kinds = [kind if kind == LANES_TYPE else types.float64 for kind in (a, b, c)]
    return signature(LANES_TYPE, *kinds), generate


def _chosen_by(comparison: str) -> Callable[..., Generated]:
    """Return the generator of code that takes a where `a comparison b` holds, and b elsewhere."""

    def choose(context: Any, a: Any, b: Any) -> Generated:
        def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
            left, right = (_vector(builder, argument) for argument in arguments)
            return builder.select(builder.fcmp_ordered(comparison, left, right), left, right)

        kinds = [kind if kind == LANES_TYPE else types.float64 for kind in (a, b)]
        return signature(LANES_TYPE, *kinds), generate

    return choose


compiled_form_of(plain.larger)(_chosen_by(">"))
compiled_form_of(plain.smaller)(_chosen_by("<"))


@compiled_form_of(plain.magnitude)
def magnitude(context: Any, x: Any) -> Generated:
    """|x|, lane by lane."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        return _call(builder, "llvm.fabs", arguments[0])

    return LANES_TYPE(LANES_TYPE), generate


@compiled_form_of(plain.unless_below)
def unless_below(context: Any, value: Any, x: Any, limit: Any) -> Generated:
    """The value where x >= limit, and zero elsewhere, lane by lane."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        value, x, limit = (_vector(builder, argument) for argument in arguments)
        above = builder.fcmp_ordered(">=", x, limit)
        return builder.select(above, value, ir.Constant(VECTOR, None))

    return LANES_TYPE(LANES_TYPE, LANES_TYPE, types.float64), generate


@compiled_form_of(plain.power_of_two)
def power_of_two(context: Any, rounded: Any) -> Generated:
    """2^n, given n + ROUNDER, whose low bits hold the integer n."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        bias = ir.Constant(WORDS, [1023] * LANES)
        place = ir.Constant(WORDS, [52] * LANES)
        bits = builder.shl(builder.add(builder.bitcast(arguments[0], WORDS), bias), place)
        return builder.bitcast(bits, VECTOR)

    return LANES_TYPE(LANES_TYPE), generate


@compiled_form_of(plain.lane)
def lane(context: Any, x: Any, k: Any) -> Generated:
    """The k-th of the four numbers of a vector."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        return builder.extract_element(*arguments)

    return types.float64(LANES_TYPE, types.int64), generate


def _pointer(context: Any, builder: Builder, kind: Any, array: Any, place: Any) -> Any:
    """The address of an entry of a one-dimensional array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [place])


@compiled_form_of(plain.load_whole)
def load_whole(context: Any, array: Any, i: Any) -> Generated:
    """The vector array[i : i + 4], which must lie inside the array."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], *arguments)
        return builder.load(builder.bitcast(pointer, VECTOR.as_pointer()), align=8)

    return LANES_TYPE(array, types.int64), generate


@compiled_form_of(plain.store_whole)
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


@compiled_form_of(plain.load_part)
def load_part(context: Any, array: Any, i: Any, fill: Any) -> Generated:
    """The vector array[i : i + 4], with `fill` in the lanes beyond the end of the array."""

    def generate(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        array, i, fill = arguments
        kind = signature.args[0]
        pointer = builder.bitcast(_pointer(context, builder, kind, array, i), VECTOR.as_pointer())
        mask, others = _inside(context, builder, kind, array, i), _vector(builder, fill)
        return _masked(builder, "load", VECTOR, pointer, _index(8), mask, others)

    return LANES_TYPE(array, types.int64, types.float64), generate


@compiled_form_of(plain.store_part)
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
