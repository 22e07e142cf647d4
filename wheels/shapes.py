"""How a compiled step looks to C, by its shape.

A step takes handles: addresses of lists of words that say where the arrays of a record lie (see
`belated.compiled.records`). Each shape has a C function, whose arguments are integers, floats and
addresses. This module generates the LLVM code between the two: it turns the C arguments into what
numba's code takes, and its result into the integer that the C function returns. `native.c` has the
prototypes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.np import arrayobj

WORD, REAL = ir.IntType(64), ir.DoubleType()
WORDS, REALS = WORD.as_pointer(), REAL.as_pointer()
EIGHT = ir.Constant(WORD, 8)
FAILED = ir.Constant(WORD, -(2**63))  # what the C function returns if the step raised an exception

arrays: Any = arrayobj
parts_of: Any = cgutils.unpack_tuple


@dataclass(frozen=True)
class Call:
    """A call of a step that is being generated.

    `kinds` are the numba types of the step's arguments, and `arguments` those of the C function.
    """

    context: Any
    builder: Any
    kinds: tuple[Any, ...]
    arguments: tuple[Any, ...]

    def handle(self, place: int) -> Any:
        """Return the handle at this place among the arguments, as numba passes it."""
        return self.builder.bitcast(self.arguments[place], cgutils.voidptr_t)

    def at(self, address: Any, place: int) -> Any:
        """Return the address of an item of an array of numbers."""
        return self.builder.gep(address, [ir.Constant(WORD, place)])

    def truth(self, place: int) -> Any:
        """Return whether the argument at this place is not zero."""
        return self.builder.icmp_signed("!=", self.arguments[place], ir.Constant(WORD, 0))

    def array(self, kind: Any, address: Any, shape: list[Any]) -> Any:
        """Return an array of 8-byte items without an owner; the caller keeps its memory alive."""
        strides, stride = list[Any](), EIGHT
        for length in reversed(shape):
            strides.insert(0, stride)
            stride = self.builder.mul(stride, length)
        array = arrays.make_array(kind)(self.context, self.builder)
        arrays.populate_array(array, address, shape, strides, EIGHT, meminfo=None)
        return array._getvalue()


@dataclass(frozen=True)
class CForm:
    """The C function of a shape: its parameters, and the way to the step and back."""

    parameters: tuple[Any, ...]
    given: Callable[[Call], list[Any]]
    returned: Callable[[Call, Any], Any]


def _asked(call: Call) -> list[Any]:
    return [call.handle(0), call.arguments[1]]


def _told(call: Call) -> list[Any]:
    _, arm, numbers, *others = call.arguments
    kind = call.kinds[1]
    rest = [call.builder.load(call.at(numbers, k)) for k in range(len(kind.types) - 1)]
    return [call.handle(0), call.context.make_tuple(call.builder, kind, [arm, *rest]), *others]


def _told_all(call: Call) -> list[Any]:
    _, arms, plays, losses, count, rows, width = call.arguments
    return [
        call.handle(0),
        call.array(call.kinds[1], arms, [count]),
        call.array(call.kinds[2], plays, [rows, width]),
        call.array(call.kinds[3], losses, [count]),
    ]


def _played(call: Call) -> list[Any]:
    *shape, first, rounds = call.arguments[5:9]
    tables = [call.array(call.kinds[k], call.arguments[k], shape) for k in range(1, 5)]
    told = [call.truth(place) for place in range(9, 12)]
    return [call.handle(0), *tables, first, rounds, *told]


def _counted(call: Call) -> list[Any]:
    *shape, first, rounds = call.arguments[3:]
    tables = [call.array(call.kinds[k], call.arguments[k], shape) for k in range(1, 3)]
    return [call.handle(0), *tables, first, rounds]


def _drawn(call: Call, result: Any) -> Any:
    """Write the probability and the row to memory of the caller, and return the arm."""
    arm, *numbers = parts_of(call.builder, result)
    for place, number in enumerate(numbers):
        call.builder.store(number, call.at(call.arguments[2], place))
    return arm


def _done(call: Call, result: Any) -> Any:
    return call.builder.zext(result, WORD)


def _nothing(call: Call, result: Any) -> Any:
    return ir.Constant(WORD, 0)


C_FORMS = {
    "ask": CForm((WORDS, WORD, REALS), _asked, _drawn),
    "tell": CForm((WORDS, WORD, REALS, REAL, WORD, WORD), _told, _done),
    "ask experts": CForm((WORDS, WORD), _asked, _nothing),
    "tell experts": CForm((WORDS, WORDS, REALS, REALS, *[WORD] * 3), _told_all, _nothing),
    "play": CForm((WORDS, REALS, WORDS, REALS, WORDS, *[WORD] * 7), _played, _nothing),
    "count": CForm((WORDS, WORDS, WORDS, *[WORD] * 4), _counted, _nothing),
}
