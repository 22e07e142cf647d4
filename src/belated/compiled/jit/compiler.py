"""Compiling an entry by numba, and loading its code again.

numba decides whether kept code is stale by the file of the outermost function alone, and keeps an
index that all users of a function share. So only its way of storing a compiled function is used
here, and `belated.compiled.code_files` decides what is kept where.
"""

import functools
import io
import pickle
import sys
from collections.abc import Callable
from typing import Any

from numba.core import types as numba_types
from numba.core.compiler import CompileResult
from numba.core.environment import Environment
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from belated.compiled.jit import lanes
from belated.compiled.jit.intrinsics import HandleType
from belated.compiled.jit.world import called, entry_dispatcher
from belated.compiled.kernels import Kernel
from belated.compiled.steps import Shape, shape_of

types: Any = numba_types
result: Any = CompileResult
target: Any = cpu_target
runtime: Any = rtsys
pickled: Any = dumps
environment: Any = Environment
NAME = "__name__"


def compiled_entry(entry: Any) -> tuple[Callable[..., Any], bytes]:
    """Compile an entry; returns a function for Python to call, and its code to be kept."""
    compiled = compile_result(entry)
    function: Callable[..., Any] = compiled.entry_point
    return function, pickled(compiled._reduce())


def compile_result(entry: Any) -> Any:
    """Let numba compile an entry; returns all that it knows of the compiled function."""
    shape, width = shape_of(entry.step), entry.row_width
    dispatcher = entry_dispatcher(entry.step, nogil=shape in ("play", "count"))
    dispatcher.compile((HandleType(entry.layout, width), *other_arguments(shape, width)))
    (compiled,) = dispatcher.overloads.values()
    return compiled


def compiled_when_called(kernel: Kernel) -> Callable[..., Any]:
    """Return a kernel that is compiled when Python calls it; only tests call kernels like that."""
    assert lanes.LANES_TYPE  # lanes must be known to numba before anything is compiled

    @functools.wraps(kernel.function)
    def run(*arguments: Any) -> Any:
        return called(kernel)(*arguments)

    return run


def other_arguments(shape: Shape, row_width: int) -> tuple[Any, ...]:
    """Return the types of a step's arguments after its handles."""
    number, count = types.float64, types.int64
    table, counts = types.float64[:, ::1], types.int64[:, ::1]
    drawn = types.Tuple((count, *[number] * (1 + row_width)))
    others: dict[Shape, tuple[Any, ...]] = {
        "ask": (count,),
        "tell": (drawn, number, count, count),
        "ask experts": (count,),
        "tell experts": (types.int64[::1], table, types.float64[::1]),
        "play": (table, counts, table, counts, count, count, *[types.boolean] * 3),
        "count": (counts, counts, count, count),
    }
    return others[shape]


def loaded(contents: bytes) -> Callable[..., Any]:
    """Return the function whose code was kept, without setting up what only compiling needs.

    That set-up takes as long as importing numba. Code that hashes strings would need it, too, but
    kernels handle numbers only.
    """
    context = target.target_context
    runtime.initialize(context)
    rebuilt = result._rebuild(context, *CodeReader(io.BytesIO(contents)).load())
    function: Callable[..., Any] = rebuilt.entry_point
    _keep_alive.append(rebuilt)
    return function


class CodeReader(pickle.Unpickler):
    """Reads kept code without importing the modules of the functions that are inside it."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what the code names, with another way to rebuild an environment."""
        if (module, name) == ("numba.core.environment", "_rebuild_env"):
            return environment_of
        return super().find_class(module, name)


def environment_of(module: str, constants: list[Any], name: str) -> Any:
    """Return the environment of a compiled function, as numba does, without importing its module.

    Only code that handles Python objects would look up the names of the module. Importing it can
    take as long as everything else together: some of numba's modules import scipy where it is.
    """
    known = environment._memo.get(name)
    if known is not None:
        return known
    made = environment(vars(sys.modules[module]) if module in sys.modules else {NAME: module})
    made.consts[:] = constants
    made.env_name = name
    environment._memo[name] = made
    return made


_keep_alive: list[Any] = []  # the code of a function lives as long as its library
