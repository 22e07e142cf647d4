"""Steps that were compiled when the wheel was built; they need no compiler at run time.

A wheel for one platform has a module `belated._native` with the steps of many learners. They are
used only if this machine has the instructions that they were compiled for, and only as long as the
sources are those that they were compiled from. With `BELATED_NATIVE=0` they are ignored. In a clone
there is no such module.
"""

import functools
import importlib
import os
from collections.abc import Callable
from typing import Any

MODULE = "belated._native"
SWITCH = "BELATED_NATIVE"


def native_step(
    name: str, layout: str, width: int, sources: Callable[[], str]
) -> Callable[..., Any] | None:
    """Return the native step for handles of one kind, or None if there is none.

    `name` is the step's module and function, `layout` describes the record of the handle, `width`
    is that of its rows of plays, and `sources` computes the hash of the sources as they are now.
    """
    module = native_module()
    if module is None:
        return None
    built_from = module.source_hash(name, layout, width)
    if built_from is None or built_from != sources():
        return None
    step: Callable[..., Any] = module.find(name, layout, width)
    return step


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
