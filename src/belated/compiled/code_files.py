"""Where compiled code is kept: one file for each entry, named by all that its code depends on.

The name of a file has a hash of the sources, the kinds of arguments, the compiler's version and
the processor. It does not depend on where the package lies. Files are written whole or not at all,
with a checksum, so that any number of processes can share the folder.
"""

import contextlib
import functools
import hashlib
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

FORMAT = "belated code 1"
KEPT_FOR = 30 * 86400.0  # seconds after its last use
KEPT_VERSIONS = 8  # of the code of one name


@functools.cache
def cache_directory() -> Path | None:
    """Return the directory where compiled code is kept, or None if no directory can be written.

    It is `BELATED_CACHE_DIR`, else `NUMBA_CACHE_DIR`, else in the user's cache directory.
    """
    base = os.environ.get("BELATED_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    directory = (Path(base) if base else Path(home) / "belated") / "code"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError:
        return None
    return directory


@functools.cache
def machine() -> str:
    """Return what code depends on besides its sources: compiler, Python and processor."""
    versions = [f"{name} {metadata.version(name)}" for name in ("numba", "llvmlite", "numpy")]
    return "\n".join((FORMAT, sys.implementation.cache_tag, *versions, _processor()))


def _processor() -> str:
    """Return the model and the features of the processor, as far as the system tells them."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:
        wanted = ("model name", "flags", "Features", "CPU part")
        first = []
        for line in lines:
            if not line.strip():
                break
            if line.startswith(wanted):
                first.append(line.strip())
        return "\n".join((platform.machine(), *first))
    return f"{platform.machine()} {platform.processor()}"


def path_of(name: str, *parts: str) -> Path | None:
    """Return the file of an entry; its name begins with `name`, the rest is hashed."""
    directory = cache_directory()
    if directory is None:
        return None
    text = "\n".join((machine(), *parts))
    return directory / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:24]}.code"


def read(path: Path) -> bytes | None:
    """Return the contents of a code file, or None if it is not there or was damaged."""
    try:
        data = path.read_bytes()
        if time.time() - path.stat().st_mtime > 86400.0:
            path.touch()  # so that code in use is not removed
    except OSError:
        return None
    checksum, contents = data[:32], data[32:]
    return contents if hashlib.sha256(contents).digest() == checksum else None


def write(path: Path, contents: bytes) -> None:
    """Write a code file, whole or not at all, and remove old ones; a full disk is no error."""
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix="writing-")
        try:
            with open(handle, "wb") as file:
                file.write(hashlib.sha256(contents).digest() + contents)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
            raise
        remove_old(path)


def remove_old(path: Path) -> None:
    """Remove code that was not used for a month, and all but the newest few of the same name.

    Anyone who edits a learner leaves a file for each version of it.
    """
    name, now = path.name.rpartition("-")[0], time.time()
    same = sorted(path.parent.glob(f"{name}-*.code"), key=_last_used, reverse=True)
    others = [each for each in path.parent.iterdir() if now - _last_used(each) > KEPT_FOR]
    for each in {*same[KEPT_VERSIONS:], *others} - {path}:
        with contextlib.suppress(OSError):
            each.unlink()


def _last_used(path: Path) -> float:
    """Return when a file was last used, to a day; now, if it has just been removed."""
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a code file, so that no two processes compile it at the same time.

    Where there are no such locks the code is at worst compiled twice.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            file = stack.enter_context(open(path.with_suffix(".lock"), "w", encoding="utf-8"))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
