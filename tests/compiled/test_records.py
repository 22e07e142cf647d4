"""Handles: compiled code finds each array of a record where it is, and writes where it should."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from belated.compiled.entries import Entry, compile_here
from belated.compiled.records import (
    Handle,
    arrays_in,
    described,
    directions,
    frozen,
    in_one_block,
    layout_of,
    opened,
)
from belated.compiled.steps import compiled_step


class Inner(NamedTuple):
    counts: Any
    square: Any


class Outer(NamedTuple):
    first: Any
    inner: Inner
    last: Any


def record(size: int = 3) -> Outer:
    """A record in a record, with arrays of several types, shapes and, some, of no length."""
    inner = Inner(np.arange(size), np.arange(2.0 * size).reshape(2, size))
    return Outer(np.full(size, 0.5), inner, np.zeros(0, dtype=np.uint64))


@compiled_step("ask experts")
def add_up(handle: Any, mode: int) -> None:
    """Write the sum over all arrays, each in a power of ten of its own, into the first place."""
    outer = opened(handle)
    inner = outer.inner
    outer.first[0] = (
        outer.first.sum()
        + 1e3 * inner.counts.sum()
        + 1e6 * inner.square[1].sum()
        + 1e9 * outer.last.shape[0]
        + mode
    )


@compiled_step("ask")
def write(handle: Any, row: int) -> Any:
    """Write into a row, and return what is in the last place of the one before, and this row."""
    square = opened(handle).inner.square
    square[row, :] = 7.0
    return row, float(square[row - 1, -1]), *frozen(handle, square[row])


def entry(step: Any, handle: Handle, width: int = 0) -> Any:
    """The step, compiled for this handle in this process."""
    return compile_here(Entry(step, layout_of(handle.record), width))


def test_a_step_reads_every_array() -> None:
    """Types, shapes, nested records and empty arrays come out as they went in."""
    for size in (1, 3, 1000):
        handle = Handle(record(size))
        square = handle.record.inner.square
        expected = 0.5 * size + 1e3 * sum(range(size)) + 1e6 * square[1].sum() + 4
        entry(add_up, handle)(handle.address, 4)
        assert handle.record.first[0] == expected


def test_what_is_written_is_there_and_nowhere_else() -> None:
    """By a step into the arrays, and by Python for the next step to see."""
    handle = Handle(record())
    step = entry(write, handle, 3)
    assert step(handle.address, 1) == (1, 2.0, 7.0, 7.0, 7.0)
    inner = handle.record.inner
    assert inner.square.tolist() == [[0.0, 1.0, 2.0], [7.0, 7.0, 7.0]]
    assert inner.counts.tolist() == [0, 1, 2]
    inner.square[0, -1] = -3.0
    assert step(handle.address, 1)[1] == -3.0


def test_a_row_is_frozen_in_the_width_of_the_handle() -> None:
    """A tuple of plain floats, as many as the entry says."""
    handle = Handle(record())
    row = entry(write, handle, 2)(handle.address, 1)[2:]
    assert row == (7.0, 7.0)
    assert all(type(value) is float for value in row)


def test_steps_are_compiled_once_for_each_kind_of_record() -> None:
    """Handles of one kind share the code; the sizes of arrays are not part of the kind."""
    assert entry(add_up, Handle(record(3))) is entry(add_up, Handle(record(5)))


def test_two_classes_of_one_name_are_two_kinds() -> None:
    """Each has code of its own, so that neither is slow because of the other."""

    class Inner(NamedTuple):
        counts: Any
        square: Any

    ours = record()
    theirs = ours._replace(inner=Inner(*ours.inner))
    assert layout_of(ours) != layout_of(theirs)
    assert described(layout_of(ours)) != described(layout_of(theirs))
    one, other = Handle(ours), Handle(theirs)
    assert entry(add_up, one) is not entry(add_up, other)
    entry(add_up, one)(one.address, 0)
    first = ours.first[0]
    ours.first[0] = 0.5
    entry(add_up, other)(other.address, 0)
    assert theirs.first[0] == first


@pytest.mark.parametrize(
    "array",
    [np.zeros((4, 4))[:, 1], np.zeros((3, 2)).T, np.broadcast_to(np.zeros(1), 3)],
    ids=["a column", "turned round", "for reading only"],
)
def test_an_array_that_is_not_whole_is_refused(array: Any) -> None:
    """Compiled code would read past it, or write where it may not."""
    with pytest.raises(ValueError, match="whole, aligned and writeable"):
        directions((array,))


def test_arrays_are_moved_into_one_block() -> None:
    """The same record with the same content, all of it in one piece of memory of its own."""
    before = record()
    block, moved = in_one_block(before)
    assert type(moved) is Outer
    assert type(moved.inner) is Inner
    for old, new in zip(arrays_in(before), arrays_in(moved), strict=True):
        assert (new.dtype, new.shape) == (old.dtype, old.shape)
        assert new.tolist() == old.tolist()
        assert new.size == 0 or np.shares_memory(new, block)
        assert not np.shares_memory(new, old)
    moved.first[0] = 9.0
    assert block[:1].view(np.float64)[0] == 9.0


def test_an_item_that_does_not_fill_its_place_is_refused() -> None:
    """Eight bytes each: anything else would be written across its neighbours."""
    with pytest.raises(ValueError):
        in_one_block((np.zeros(3, dtype=np.int32),))
