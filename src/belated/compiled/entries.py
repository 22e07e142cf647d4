"""Entries: the compiled forms of steps, from wherever they can be had soonest.

An entry is a step for one kind of record, called with the record's address. In this order it is

1. native code of the installed wheel (`compiled.native`);
2. code that was compiled before and kept on disk (`compiled.code_files`);
3. compiled now, by another process (`compiled.background`) or, if `BELATED_COMPILE` is "wait" or
   its code may not be kept, because its learner is in a script, by this one.

Until then the step runs as plain Python, with the same results to the last bit.
"""

import contextlib
import functools
import importlib.util
import logging
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from belated.compiled import code_files, native
from belated.compiled.dispatch import VERBS
from belated.compiled.kernels import compile_mode
from belated.compiled.plugin_sources import stands_alone
from belated.compiled.records import Layout, classes_in, described
from belated.compiled.sources import PACKAGE, hash_of
from belated.compiled.steps import name_of

log = logging.getLogger(__name__)
QUIET = "BELATED_QUIET"
COMPILING = "compiling for this machine, once; `belated warmup` does it beforehand"


class Entry(NamedTuple):
    """A step for records of a certain layout, with rows of plays of a certain width."""

    step: Callable[..., Any]
    layout: Layout
    row_width: int = 0

    @property
    def classes(self) -> list[type]:
        """The classes of all records that the step works on."""
        return classes_in(self.layout)

    @property
    def modules(self) -> set[str]:
        """The modules that the step's code is made from, without those that they import."""
        verbs = [verb for kind in self.classes for verb in VERBS.get(kind, ())]
        return {self.step.__module__, *(each.__module__ for each in (*self.classes, *verbs))}

    @property
    def may_be_kept(self) -> bool:
        """Whether its code may be kept and shared: all of it is of this package or of a plugin."""
        packages = {module.partition(".")[0] for module in self.modules} - {PACKAGE}
        return all(map(stands_alone, packages))

    @property
    def title(self) -> str:
        """The learner's kind of state and the step, for messages: "concealed ask_bandit"."""
        states = [kind for kind in self.classes if kind in VERBS]
        kind = states[0].__module__.rpartition(".")[2].replace("_", "-") if states else "game"
        return f"{kind} {self.step.__name__}"

    @property
    def path(self) -> Path | None:
        """The file of its code, which is there if it was compiled before."""
        kind, sources = described(self.layout), hash_of(frozenset(self.modules))
        parts = (name_of(self.step), kind, str(self.row_width), sources)
        return code_files.path_of(self.title.replace(" ", "-"), *parts)


_found: dict[Entry, Callable[..., Any]] = {}
_loading = threading.RLock()


@functools.cache
def can_compile() -> bool:
    """Whether numba is installed and not switched off; that it is not installed is said once."""
    if compile_mode() == "never":
        return False
    if importlib.util.find_spec("numba") is not None:
        return True
    say("numba is not installed, so learners run interpreted: pip install 'belated[jit]'")
    return False


def find(entry: Entry) -> Callable[..., Any] | None:
    """Return the compiled entry if it is there: in memory, in the wheel, or on disk."""
    if compile_mode() == "never":
        return None
    if entry in _found:
        return _found[entry]
    function = native.find(entry) if entry.may_be_kept else None
    if function is None and entry.may_be_kept and can_compile():
        function = _from_disk(entry)
    if function is not None:
        _found[entry] = function
    return function


def _from_disk(entry: Entry) -> Callable[..., Any] | None:
    path = entry.path
    contents = None if path is None else code_files.read(path)
    if contents is None:
        return None
    from belated.compiled.jit.compiler import loaded

    with _loading:
        try:
            return loaded(contents)
        except Exception as error:  # whatever is wrong with it, it can be compiled again
            log.warning("the kept code of %s cannot be used: %s", entry.title, error)
            return None


def compile_here(entry: Entry) -> Callable[..., Any]:
    """Compile an entry in this process, keep its code if it may be kept, and return it."""
    from belated.compiled.jit.compiler import compiled_entry

    with _loading:
        if entry in _found:
            return _found[entry]
        path = entry.path if entry.may_be_kept else None
        with contextlib.nullcontext() if path is None else code_files.locked(path):
            function = None if path is None else _from_disk(entry)
            if function is None:
                say(COMPILING)
                function, contents = compiled_entry(entry)
                if path is not None:
                    code_files.write(path, contents)
        _found[entry] = function
        return function


def obtain(entry: Entry, is_short: bool = False) -> Callable[..., Any] | None:
    """Return the compiled entry, waiting for the compiler if need be; None if there is none.

    None is also returned for work that is so short that it is over before it would be compiled.
    """
    function = find(entry)
    if function is None and can_compile() and (not is_short or compile_mode() == "wait"):
        function = compile_here(entry)
    return function


_said: set[str] = set()


def leave_unsaid(text: str) -> None:
    """Do not print a message that is printed in another way."""
    _said.add(text)


def say(text: str) -> None:
    """Print a message to the error output once, unless BELATED_QUIET is set."""
    if text in _said or os.environ.get(QUIET) or sys.stderr is None:
        return
    _said.add(text)
    print(f"belated: {text}", file=sys.stderr, flush=True)
