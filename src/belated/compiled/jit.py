"""Decorators that compile kernels by numba, with a cache that is keyed on all their sources.

numba decides whether cached code is stale by the file of the *outermost* function alone, so the old
version of an edited kernel could still run inside a caller that did not change. Therefore the name
of the cache directory contains a hash of all sources of compiled code, and an edit changes it.
"""

import contextlib
import functools
import hashlib
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys

config: Any = numba.config
listen: Any = event.register
Function = TypeVar("Function", bound=Callable[..., Any])

KERNELS = "from belated.compiled.jit import "
IMPORT = re.compile(r"\nfrom (belated[\w.]*) import (\([^)]*\)|[^(\n]*)")
WORD = re.compile(r"\w+")


@functools.cache
def source_hash() -> str:
    """A short hash of all sources that compiled code is made from."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in compiled_sources(root):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def compiled_sources(root: Path) -> list[Path]:
    """The files with kernels, and every file of the package that they import, however indirectly.

    Nothing else can end up in compiled code: a kernel sees only what its module defines or imports.
    """
    paths = {module_in(path.relative_to(root)): path for path in root.rglob("*.py")}
    texts = {module: f"\n{path.read_text(encoding='utf-8')}" for module, path in paths.items()}
    waiting = [module for module, text in texts.items() if KERNELS in text or module == __name__]
    found = set(waiting)
    while waiting:
        for module, names in IMPORT.findall(texts[waiting.pop()]):
            for each in (module, *(f"{module}.{word}" for word in WORD.findall(names))):
                if each in texts and each not in found:
                    found.add(each)
                    waiting.append(each)
    return sorted(paths[module] for module in found)


def module_in(path: Path) -> str:
    """Return the dotted module name of a file of the package."""
    return ".".join(["belated", *path.with_suffix("").parts]).removesuffix(".__init__")


@functools.cache
def cache_directory() -> Path | None:
    """Return the directory where compiled code is kept, or None if no directory can be written.

    It is `BELATED_CACHE_DIR`, else `NUMBA_CACHE_DIR`, else in the user's cache directory.
    """
    base = os.environ.get("BELATED_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    directory = Path(base) if base else Path(home) / "belated"
    directory = directory / f"compiled-{source_hash()}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError:
        return None
    return directory


def compiled(function: Function) -> Function:
    """Compile a kernel on its first call; with `NUMBA_DISABLE_JIT=1` run it as plain Python.

    Where another kernel calls it, it is inlined: numba passes records of arrays by copying them,
    which costs more time than most kernels take.
    """
    return _compiled(function, nogil=True, forceinline=True)


def inlined(function: Function) -> Function:
    """Compile a small function that numba inlines into kernels before it compiles them."""
    return _compiled(function, nogil=True, inline="always")


def compiled_apart(function: Function) -> Function:
    """Compile a kernel that is rarely called, so that it is not inlined into its callers."""
    return _compiled(function, nogil=True, forceinline=False)


def compiled_step(function: Function) -> Function:
    """Compile a step that keeps the GIL, since it is so short that releasing it would cost more."""
    return _compiled(function, nogil=False, forceinline=True)


def _compiled(function: Function, **options: Any) -> Function:
    if config.DISABLE_JIT:
        return _interpreted(function)
    compiler: Any = numba.njit
    dispatcher = compiler(error_model="numpy", **options)(function)
    directory = cache_directory()
    if directory is not None:
        user_directory = config.CACHE_DIR
        # numba fixes the location as the cache is made; the user's own setting is put back at once.
        config.CACHE_DIR = str(directory)
        try:
            kept: Any = KeptCode
            dispatcher._cache = kept(function)
        finally:
            config.CACHE_DIR = user_directory
    return cast(Function, dispatcher)


class KeptCode(FunctionCache):
    """numba's cache, except that loading code does not set up what only compiling needs.

    That set-up takes as long as importing numba, and compiling does it by itself. Code that hashes
    strings would need it, too, but kernels handle numbers only.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached code for this signature, or None if there is none."""
        initialize: Any = rtsys.initialize
        initialize(target_context)
        load: Any = self._load_overload
        with self._guard_against_spurious_io_errors():
            return load(sig, target_context)


def compiled_afresh(function: Function) -> Function:
    """Compile a function again without keeping the code on disk.

    This is for code that depends on verbs that a user wrote: the key of the cache covers the
    sources of this package only.
    """
    if config.DISABLE_JIT:
        return function
    python: Any = function
    return cast(Function, numba.njit(nogil=True, error_model="numpy")(python.py_func))


def _interpreted(function: Function) -> Function:
    """Run the kernel as plain Python, without numpy's warnings on overflow and division by zero."""

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        if interpreter.is_silent:  # one kernel calls another
            return function(*arguments)
        interpreter.is_silent = True
        try:
            with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
                return function(*arguments)
        finally:
            interpreter.is_silent = False

    return cast(Function, run)


class Interpreter(threading.local):
    """Whether the current thread is running a kernel as plain Python."""

    is_silent = False


interpreter = Interpreter()


# -- a message while something is compiled for the first time

QUIET = "BELATED_QUIET"
SILENCE = 60.0  # seconds in which other processes that share the cache do not print the message


class Announcer(event.Listener):
    """Prints one message per process when it compiles; loading code from the cache prints none."""

    def __init__(self) -> None:
        self.spoken = False

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if self.spoken or not module.startswith("belated.") or os.environ.get(QUIET):
            return
        if self.say_no_more() and sys.stderr is not None:
            text = "compiling for this machine, once; `belated warmup` does it beforehand"
            print(f"belated: {text}", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Do nothing when a compilation ends."""

    def say_no_more(self) -> bool:
        """Print no message from now on; returns whether none was printed in the last minute."""
        self.spoken = True
        return _first_in_a_while(cache_directory())


def _first_in_a_while(directory: Path | None) -> bool:
    """Whether no process has printed the message lately, as workers that start together would."""
    if directory is None:
        return True
    mark = directory / "compiling"
    recent = False
    with contextlib.suppress(OSError):
        recent = time.time() - mark.stat().st_mtime < SILENCE
    with contextlib.suppress(OSError):
        mark.touch()
    return not recent


announcer = Announcer()
listen("numba:compile", announcer)
