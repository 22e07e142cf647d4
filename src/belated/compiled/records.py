"""Handles: records of arrays that are passed to compiled code as one address, in nanoseconds.

Passing a record of a dozen arrays to compiled code takes microseconds, since every call unpacks
each array and counts a reference to it. A handle lists once where the arrays lie and how large they
are; a step is then called with the address of that list, and builds the record again from it.
Compiled code only borrows the arrays: the owner of the handle keeps them alive.
"""

from typing import Any

import numpy as np

# The kind of a record: the number type and the dimensions of an array, or a class and its parts.
Layout = tuple[str, int] | tuple[type, tuple[Any, ...]]


class Handle:
    """A record of arrays, or of other such records, and its address for compiled steps.

    The contents of the arrays may change, but a record with another array needs another handle.
    """

    __slots__ = ("_directions", "address", "record")

    def __init__(self, record: Any) -> None:
        self.record = record
        self._directions = directions(record)
        self.address = address_of(self._directions)

    def exchange_last(self, record: Any) -> None:
        """Go on with a record that differs from the present one only in its last part, an array.

        The address stays, and this takes less time than a new handle.
        """
        words = _words(record[-1])
        self._directions[-len(words) :] = words
        self.record = record


def address_of(array: Any) -> int:
    """Return where the numbers of an array lie in memory."""
    return int(array.__array_interface__["data"][0])


def directions(record: Any) -> Any:
    """List the address and the shape of each array of a record, for `opened` to read."""
    words: list[int] = []
    for array in arrays_in(record):
        words += _words(array)
    return np.array(words, dtype=np.int64)


def _words(array: Any) -> tuple[int, ...]:
    """Return the address and the shape of an array."""
    if not array.flags.carray:
        raise ValueError("an array of a handle must be whole, aligned and writeable")
    return address_of(array), *array.shape


def arrays_in(record: Any) -> list[Any]:
    """List all arrays of a record in order, including those of the records in it."""
    if record is None:
        return []
    if isinstance(record, np.ndarray):
        return [record]
    return [array for part in record for array in arrays_in(part)]


def layout_of(record: Any) -> Layout:
    """Return the kind of a record: what its code depends on, and the sizes of its arrays left out.

    A record may hold None in the place of an array; compiled code then skips what is done with it.
    """
    if record is None:
        return "none", 0
    if isinstance(record, np.ndarray):
        return record.dtype.name, record.ndim
    return type(record), tuple(layout_of(part) for part in record)


def classes_in(layout: Layout) -> list[type]:
    """List the classes of the records of a layout."""
    kind, parts = layout
    if isinstance(kind, str) or isinstance(parts, int):
        return []
    return [kind, *(each for part in parts for each in classes_in(part))]


def described(layout: Layout) -> str:
    """Return a layout as text, which differs for layouts that need different code."""
    kind, parts = layout
    if isinstance(kind, str) or isinstance(parts, int):
        return f"{kind}:{parts}"
    return f"{kind.__module__}.{kind.__qualname__}({', '.join(map(described, parts))})"


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


# -- what steps use to read a handle; compiled code has its own forms of these functions


def opened(handle: Any) -> Any:
    """Return the record of a handle; a step in plain Python is given the record itself."""
    return handle


def frozen(handle: Any, row: Any) -> tuple[float, ...]:
    """Return a row of plays as a tuple, which cannot be changed."""
    return tuple(row.tolist())


def put_back(frozen: tuple[float, ...], row: Any) -> None:
    """Copy a row that was frozen to a row of plays."""
    for k in range(len(frozen)):
        row[k] = frozen[k]
