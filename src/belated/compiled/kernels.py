"""Kernels: functions of numbers and arrays that run as plain Python and can also be compiled.

The decorators only mark a function, and say how it is compiled where another kernel calls it.
Nothing here imports numba. A kernel that is called from Python runs as plain Python. Whole rounds
run compiled: `belated.compiled.entries` says how.
"""

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeVar, cast

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])
Mode = Literal["background", "wait", "never"]

MODES: tuple[Mode, ...] = ("background", "wait", "never")
MODE = "BELATED_COMPILE"


@functools.cache
def compile_mode() -> Mode:
    """When learners are compiled, from the environment variable BELATED_COMPILE.

    - "background", the default: they run interpreted while another process compiles them;
    - "wait": every call waits until what it needs is compiled;
    - "never": everything runs interpreted. `NUMBA_DISABLE_JIT=1` means this, too.
    """
    given = os.environ.get(MODE, "background")
    if given not in MODES:
        raise ValueError(f"{MODE} is {given!r}; it must be 'background', 'wait' or 'never'")
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return "never"
    return given


class Kernel(NamedTuple):
    """How a function is compiled: the function itself, and the compiler's options."""

    function: Callable[..., Any]
    options: dict[str, Any]


def kernel_of(value: Any) -> Kernel | None:
    """Return how a function is compiled, or None if it is not a kernel."""
    kernel: Kernel | None = getattr(value, "belated_kernel", None)
    return kernel


def compiled(function: Function) -> Function:
    """Mark a kernel, which is inlined where another kernel calls it.

    Compiled code passes records of arrays by copying them, which costs more time than most kernels
    take.
    """
    return _marked(function, nogil=True, forceinline=True)


def inlined(function: Function) -> Function:
    """Mark a small kernel that is inlined into others before they are compiled."""
    return _marked(function, nogil=True, inline="always")


def compiled_apart(function: Function) -> Function:
    """Mark a kernel that is rarely called, so that it is not inlined into its callers."""
    return _marked(function, nogil=True, forceinline=False)


def _marked(function: Function, **options: Any) -> Function:
    kernel = Kernel(function, options)
    run = called_from_python(kernel)
    run.belated_kernel = kernel  # type: ignore[attr-defined]
    return cast(Function, run)


def interpreted(kernel: Kernel) -> Callable[..., Any]:
    """Return a kernel as plain Python, without numpy's warnings on overflow and the like.

    Only the outermost kernel switches them off, since that takes longer than most kernels.
    """
    function = kernel.function

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        if interpreter.is_silent:
            return function(*arguments)
        interpreter.is_silent = True
        try:
            with np.errstate(all="ignore"):
                return function(*arguments)
        finally:
            interpreter.is_silent = False

    return run


class Interpreter(threading.local):
    """Whether the current thread is running a kernel as plain Python."""

    is_silent = False


interpreter = Interpreter()
# What a kernel is when Python calls it; tests of compiled kernels put something else here.
called_from_python: Callable[[Kernel], Callable[..., Any]] = interpreted
