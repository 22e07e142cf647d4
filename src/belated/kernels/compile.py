"""How kernels are compiled: by numba, cached under a key that covers every source file.

numba decides whether cached code is stale by the file of the *outermost* function alone, so an
edited kernel could go on running in its old form inside a caller that did not change. Here the
cache directory itself is named after a hash of all sources of the package: any edit starts afresh.
"""

import functools
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np

config: Any = numba.config
Function = TypeVar("Function", bound=Callable[..., Any])


@functools.cache
def source_hash() -> str:
    """A short hash of all Python sources of this package."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def cache_directory() -> Path | None:
    """Where compiled code is kept, or None where no directory can be written.

    `BELATED_CACHE_DIR` decides, else `NUMBA_CACHE_DIR`, else the user's cache directory.
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
    """Compile a kernel on its first call; with `NUMBA_DISABLE_JIT=1` run it as plain Python."""
    if config.DISABLE_JIT:
        return _interpreted(function)
    directory = cache_directory()
    user_directory = config.CACHE_DIR
    # numba fixes the cache location at decoration; the user's own setting is put back at once.
    config.CACHE_DIR = str(directory or "")
    try:
        compiler = numba.njit(cache=directory is not None, nogil=True, error_model="numpy")
        return cast(Function, compiler(function))
    finally:
        config.CACHE_DIR = user_directory


def _interpreted(function: Function) -> Function:
    """The kernel as Python runs it, silent on wrap-around and division as compiled code is."""

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
            return function(*arguments)

    return cast(Function, run)
