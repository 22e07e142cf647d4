"""Handles: records of arrays that are passed to compiled code as one address, in nanoseconds.

Passing a record of a dozen arrays to compiled code takes microseconds, since every call unpacks
each array and counts a reference to it. A handle lists once where the arrays lie and how large they
are; a step is then called with the address of that list, and builds the record again from it.
Compiled code only borrows the arrays: the owner of the handle keeps them alive.
"""

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core import cgutils
from numba.core import types as numba_types
from numba.extending import NativeValue, intrinsic, models, overload, register_model, unbox
from numba.np import arrayobj
from numba.np.unsafe.ndarray import to_fixed_tuple

from belated.compiled.jit import compiled_afresh, config

Step = Callable[..., Any]

# numba has no type annotations that could be checked
typeof: Any = numba.typeof
types: Any = numba_types
arrays: Any = arrayobj
fixed_tuple: Any = to_fixed_tuple
native: Any = NativeValue
unboxes: Any = unbox


class Handle:
    """A record of arrays, or of other such records, and its address for compiled steps.

    The contents of the arrays may change, but a record with another array needs another handle.
    """

    __slots__ = ("_directions", "address", "record", "row_width")

    def __init__(self, record: Any, row_width: int) -> None:
        self.record = record
        self.row_width = row_width
        self._directions = directions(record)
        self.address: Any = record if config.DISABLE_JIT else _address(self._directions)

    def entry(self, step: Step, *others: Any, keep: bool = True) -> Step:
        """Compile a step for handles of this kind; it is then called with the address.

        `others` are the types of its other arguments. `keep` must be False for code that depends on
        more than the sources of this package.
        """
        if config.DISABLE_JIT:
            return step
        return _entry(step, HandleType(typeof(self.record), self.row_width), others, keep)


@functools.cache
def _entry(step: Step, kind: "HandleType", others: tuple[Any, ...], keep: bool) -> Step:
    dispatcher: Any = step if keep else compiled_afresh(step)
    entry: Step = dispatcher.compile((kind, *others))
    return entry


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def directions(record: Any) -> Any:
    """List the address and the shape of each array of a record, for `opened` to read."""
    words: list[int] = []
    for array in arrays_in(record):
        if not array.flags.carray:
            raise ValueError("an array of a handle must be whole, aligned and writeable")
        words += (_address(array), *array.shape)
    return np.array(words, dtype=np.int64)


def arrays_in(record: Any) -> list[Any]:
    """List all arrays of a record in order, including those of the records in it."""
    if isinstance(record, np.ndarray):
        return [record]
    return [array for part in record for array in arrays_in(part)]


def in_one_block(record: Any) -> tuple[Any, Any]:
    """Move the arrays of a record, with items of 8 bytes, into one new block of memory.

    Returns the block, and the record with its arrays in the block.
    """
    words = sum(array.size for array in arrays_in(record))
    block = np.empty(words, dtype=np.int64)
    return block, _moved(record, block, 0)[0]


def _moved(part: Any, block: Any, place: int) -> tuple[Any, int]:
    if isinstance(part, np.ndarray):
        end = place + part.size
        copy = block[place:end].view(part.dtype).reshape(part.shape)
        copy[...] = part
        return copy, end
    moved = []
    for each in part:
        copy, place = _moved(each, block, place)
        moved.append(copy)
    return (type(part)(*moved) if hasattr(part, "_fields") else tuple(moved)), place


# -- the types and functions that compiled code uses


class HandleType(numba_types.Type):
    """The numba type of a handle: the type of its record, and the width of a row of plays."""

    def __init__(self, record: Any, row_width: int) -> None:
        self.record = record
        self.row_width = row_width
        named: Any = super().__init__
        named(name=f"Handle({record}, {row_width})")


@register_model(HandleType)
class HandleModel(models.PrimitiveModel):
    """The memory layout of a handle in compiled code, which is an address."""

    def __init__(self, manager: Any, kind: HandleType) -> None:
        made: Any = super().__init__
        made(manager, kind, cgutils.voidptr_t)


def _unboxed(kind: HandleType, address: Any, c: Any) -> Any:
    number = c.pyapi.long_as_longlong(address)
    pointer = c.builder.inttoptr(number, cgutils.voidptr_t)
    return native(pointer, is_error=c.pyapi.c_api_error())


unboxes(HandleType)(_unboxed)


def opened(handle: Any) -> Any:
    """Return the record of a handle; in plain Python the address is the record itself."""
    return handle


@overload(opened, strict=False)
def _opened(handle: Any) -> Any:
    return lambda handle: borrowed(handle)  # type: ignore[call-arg]


def frozen(handle: Any, row: Any) -> tuple[float, ...]:
    """Return a row of plays as a tuple, which cannot be changed."""
    return tuple(row.tolist())


@overload(frozen, strict=False)
def _frozen(handle: Any, row: Any) -> Any:
    width = handle.row_width
    return lambda handle, row: fixed_tuple(row, width)


@intrinsic
def borrowed(typing: Any, handle: Any) -> Any:
    """Build the record of a handle from its list of addresses and shapes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = builder.bitcast(arguments[0], cgutils.intp_t.as_pointer())
        value, _ = _built(context, builder, signature.return_type, words, 0)
        return value

    return handle.record(handle), generate


def _built(context: Any, builder: Any, kind: Any, words: Any, place: int) -> tuple[Any, int]:
    """Build a value of a type from the list of a handle; returns it and the next place to read."""
    if isinstance(kind, types.Array):
        count = 1 + kind.ndim
        at = [builder.gep(words, [cgutils.intp_t(place + i)]) for i in range(count)]
        address, *shape = [builder.load(word) for word in at]
        return _array(context, builder, kind, address, shape), place + count
    parts = []
    for part in kind.types:
        value, place = _built(context, builder, part, words, place)
        parts.append(value)
    return context.make_tuple(builder, kind, parts), place


def _array(context: Any, builder: Any, kind: Any, address: Any, shape: list[Any]) -> Any:
    """Make an array without an owner or a reference count, like one made by `numba.carray`."""
    item = context.get_data_type(kind.dtype)
    size = cgutils.intp_t(context.get_abi_sizeof(item))
    stride = size
    strides: list[Any] = []
    for length in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, length)
    array = arrays.make_array(kind)(context, builder)
    data = builder.inttoptr(address, item.as_pointer())
    arrays.populate_array(array, data, shape, strides, size, meminfo=None)
    return array._getvalue()
