"""Handles: compiled code finds each array of a record where it is, and writes where it should."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from belated.compiled.jit import compiled
from belated.compiled.records import (
    Handle,
    arrays_in,
    directions,
    frozen,
    in_one_block,
    opened,
    types,
)


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


@compiled
def total(handle: Any) -> float:
    """The sum over all arrays, each in a power of ten of its own."""
    outer = opened(handle)
    inner = outer.inner
    return float(
        outer.first.sum()
        + 1e3 * inner.counts.sum()
        + 1e6 * inner.square[1].sum()
        + 1e9 * outer.last.shape[0]
    )


@compiled
def write(handle: Any, row: int, value: float) -> float:
    """Write into a row, and return what is in the last place of the one before."""
    square = opened(handle).inner.square
    square[row, :] = value
    return float(square[row - 1, -1])


@compiled
def row_of(handle: Any) -> tuple[float, ...]:
    """A row as a tuple."""
    return frozen(handle, opened(handle).inner.square[0])


def test_a_step_reads_every_array() -> None:
    """Types, shapes, nested records and empty arrays come out as they went in."""
    for size in (1, 3, 1000):
        handle = Handle(record(size), 0)
        square = handle.record.inner.square
        expected = 0.5 * size + 1e3 * sum(range(size)) + 1e6 * square[1].sum()
        assert handle.entry(total)(handle.address) == expected


def test_what_is_written_is_there_and_nowhere_else() -> None:
    """By a step into the arrays, and by Python for the next step to see."""
    handle = Handle(record(), 0)
    step = handle.entry(write, types.int64, types.float64)
    assert step(handle.address, 1, 7.0) == 2.0
    inner = handle.record.inner
    assert inner.square.tolist() == [[0.0, 1.0, 2.0], [7.0, 7.0, 7.0]]
    assert inner.counts.tolist() == [0, 1, 2]
    inner.square[0, -1] = -3.0
    assert step(handle.address, 1, 8.0) == -3.0


def test_a_row_is_frozen_in_the_width_of_the_handle() -> None:
    """A tuple of plain floats, as many as the handle says."""
    handle = Handle(record(), 3)
    row = handle.entry(row_of)(handle.address)
    assert row == (0.0, 1.0, 2.0)
    assert all(type(value) is float for value in row)


def test_steps_are_compiled_once_for_each_kind_of_record() -> None:
    """Handles of one kind share the code; the sizes of arrays are not part of the kind."""
    assert Handle(record(3), 0).entry(total) is Handle(record(5), 0).entry(total)


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


# -- compiling for the first time


def first_ask(cache: Path, **more: str) -> str:
    """What a new process says on its error output when it asks for the first time."""
    unset = ("BELATED_QUIET", "NUMBA_DISABLE_JIT")
    plain = {key: value for key, value in os.environ.items() if key not in unset}
    code = "from belated.numerics.random_stream import seeded, uniform; uniform(seeded(1))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**plain, "BELATED_CACHE_DIR": str(cache), **more},
    )
    return run.stderr


def test_compiling_is_announced_once_and_only_if_something_is_compiled(tmp_path: Path) -> None:
    """One line with a cold cache, none with a warm one, none if silence is wanted."""
    (line,) = first_ask(tmp_path).splitlines()
    assert line.startswith("belated: compiling")
    assert "belated warmup" in line
    for mark in tmp_path.glob("*/compiling"):
        mark.unlink()
    assert first_ask(tmp_path) == ""
    assert first_ask(tmp_path / "other", BELATED_QUIET="1") == ""


def test_processes_that_share_a_cache_do_not_all_say_so(tmp_path: Path) -> None:
    """Whoever comes a moment later keeps silent; a minute later it is news again."""
    first_ask(tmp_path)
    (mark,) = tmp_path.glob("*/compiling")
    for entry in mark.parent.rglob("*.nb?"):
        entry.unlink()
    assert first_ask(tmp_path) == ""
    for entry in mark.parent.rglob("*.nb?"):
        entry.unlink()
    os.utime(mark, (0, 0))
    assert "compiling" in first_ask(tmp_path)
