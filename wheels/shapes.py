"""How a compiled step looks to C, by its shape.

A step takes a handle: the address of a list of words that says where the arrays of a record lie
(see `belated.compiled.records`). Every shape has a C function of its own, whose arguments are
integers, floats and addresses. This module says which types numba compiles a step for, and generates
the LLVM code of the C function, which calls what numba made. `native.c` has the prototypes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

WORD, REAL = ir.IntType(64), ir.DoubleType()
WORDS, REALS = WORD.as_pointer(), REAL.as_pointer()
INT64, FLOAT64 = types.int64, types.float64

# A step raised an exception: its C function returns this instead of an arm or a truth value.
FAILED = ir.Constant(WORD, -(2**63))


@dataclass(frozen=True)
class Call:
    """A call of a step that is being generated: where to write code, and the C arguments."""

    context: Any
    builder: Any
    kinds: tuple[Any, ...]  # the numba types of the step's arguments
    arguments: tuple[Any, ...]  # those of the C function

    def handle(self, place: int) -> Any:
        """The handle at this place among the C arguments, as numba passes it."""
        return self.builder.bitcast(self.arguments[place], cgutils.voidptr_t)

    def at(self, address: Any, place: int) -> Any:
        """The address of an item of an array of 8-byte items."""
        return self.builder.gep(address, [ir.Constant(WORD, place)])

    def array(self, kind: Any, address: Any, shape: list[Any]) -> Any:
        """An array without an owner, in memory that the caller keeps alive."""
        # imported here: it registers what only compiling needs
        from numba.np import arrayobj

        item = self.context.get_data_type(kind.dtype)
        strides, stride = [], ir.Constant(WORD, 8)
        for length in reversed(shape):
            strides.insert(0, stride)
            stride = self.builder.mul(stride, length)
        array = arrayobj.make_array(kind)(self.context, self.builder)
        data = self.builder.bitcast(address, item.as_pointer())
        size = ir.Constant(WORD, 8)
        arrayobj.populate_array(array, data, shape, strides, size, meminfo=None)
        return array._getvalue()


@dataclass(frozen=True)
class Shape:
    """One shape of steps: its types for numba, its types for C, and the way between them.

    `kinds` gives the types of the arguments after the handles, for a width of rows. `given` turns
    the C arguments into the step's, and `returned` turns its result into the integer that the C
    function returns.
    """

    name: str
    handles: int
    parameters: tuple[Any, ...]
    kinds: Callable[[int], tuple[Any, ...]]
    given: Callable[[Call], list[Any]]
    returned: Callable[[Call, Any, Any], Any]


def drawn_kind(width: int) -> Any:
    """The numba type of what was drawn: the arm, its probability, and a row of the play."""
    return types.Tuple((INT64, FLOAT64, types.UniTuple(FLOAT64, width)))


def told_kinds(width: int) -> tuple[Any, ...]:
    """What a bandit's tell takes: what was drawn, the loss, the missing count, and the mode."""
    return drawn_kind(width), FLOAT64, INT64, INT64


def _asked(call: Call) -> list[Any]:
    return [call.handle(0), call.arguments[1]]


def _told(call: Call) -> list[Any]:
    _, arm, row, *others = call.arguments
    kind = call.kinds[1]
    width = kind.types[2].count if kind.types[2].types else 0
    numbers = [call.builder.load(call.at(row, k)) for k in range(width)]
    play = call.context.make_tuple(call.builder, kind.types[2], numbers)
    unknown = ir.Constant(REAL, "nan")  # no step looks at the probability again
    drawn = call.context.make_tuple(call.builder, kind, [arm, unknown, play])
    return [call.handle(0), drawn, *others]


def _told_all(call: Call) -> list[Any]:
    _, arms, count, plays, rows, width, losses = call.arguments
    return [
        call.handle(0),
        call.array(call.kinds[1], arms, [count]),
        call.array(call.kinds[2], plays, [rows, width]),
        call.array(call.kinds[3], losses, [count]),
    ]


def _played(call: Call) -> list[Any]:
    return [call.handle(0), call.handle(1), *call.arguments[2:]]


def _arm(call: Call, kind: Any, result: Any) -> Any:
    """Write the probability and the row to memory of the caller; the arm is returned."""
    arm, probability, row = cgutils.unpack_tuple(call.builder, result)
    out = call.arguments[2]
    numbers = cgutils.unpack_tuple(call.builder, row)
    for place, number in enumerate([probability, *numbers]):
        call.builder.store(number, call.at(out, place))
    return arm


def _truth(call: Call, kind: Any, result: Any) -> Any:
    return call.builder.zext(result, WORD)


def _nothing(call: Call, kind: Any, result: Any) -> Any:
    return ir.Constant(WORD, 0)


ASK = Shape("ask", 1, (WORDS, WORD, REALS), lambda width: (INT64,), _asked, _arm)
TELL = Shape("tell", 1, (WORDS, WORD, REALS, REAL, WORD, WORD), told_kinds, _told, _truth)
ASK_EXPERTS = Shape("ask experts", 1, (WORDS, WORD), lambda width: (INT64,), _asked, _nothing)
TELL_EXPERTS = Shape(
    "tell experts",
    1,
    (WORDS, WORDS, WORD, REALS, WORD, WORD, REALS),
    lambda width: (INT64[::1], FLOAT64[:, ::1], FLOAT64[::1]),
    _told_all,
    _nothing,
)
PLAY = Shape("play", 2, (WORDS, WORDS, *[WORD] * 5), lambda width: (INT64,) * 5, _played, _nothing)
BY_NAME = {shape.name: shape for shape in (ASK, TELL, ASK_EXPERTS, TELL_EXPERTS, PLAY)}
