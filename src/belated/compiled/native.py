"""Native code of the installed wheel, which needs no compiler at run time.

A wheel for one platform has a module `belated._native` with the steps of many learners. A step is
used only if this machine has the instructions that it was compiled for, and only as long as the
sources are those that it was compiled from. With `BELATED_NATIVE=0` all of them are ignored. A
clone has no such module.
"""

import functools
import importlib
import os
from collections.abc import Callable
from typing import Any

from belated.compiled.records import described
from belated.compiled.sources import hash_of
from belated.compiled.steps import name_of

MODULE = "belated._native"
SWITCH = "BELATED_NATIVE"


def find(entry: Any) -> Callable[..., Any] | None:
    """Return the native function of an entry, or None if the package has none for it."""
    module = native_module()
    if module is None:
        return None
    key = key_of(entry)
    built_from = module.source_hash(*key)
    if built_from is None or built_from != hash_of(frozenset(entry.modules)):
        return None
    function: Callable[..., Any] = module.find(*key)
    return function


def key_of(entry: Any) -> tuple[str, str, int]:
    """Return what a native step is found by: its name, the kinds of its records, a row's width."""
    return name_of(entry.step), described(entry.layout), entry.row_width


@functools.cache
def native_module() -> Any:
    """Return the module with the native steps, or None if there is none that can be used here."""
    if os.environ.get(SWITCH) == "0":
        return None
    try:
        module: Any = importlib.import_module(MODULE)
    except ImportError:
        return None
    return module if module.baseline_ok() else None
