"""Many states of one kind in one record, and a view of a single one of them.

A stack is a state whose arrays all have one more dimension, in front, for the number of the copy.
`copy_of` is the state of one copy: rows of the stack's arrays, in records of the same classes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import overload


def copy_of(stack: Any, index: int) -> Any:
    """Return one of the stacked states, as a view: writing to it writes to the stack."""
    if isinstance(stack, np.ndarray):
        return stack[index]
    return type(stack)(*(copy_of(part, index) for part in stack))


@overload(copy_of, strict=False, jit_options={"forceinline": True, "error_model": "numpy"})
def _copy_of(stack: Any, index: Any) -> Callable[[Any, int], Any]:
    """Make `copy_of` for one kind of stack: numba needs a function that names every class."""
    scope: dict[str, Any] = {"__name__": __name__}
    function: Callable[[Any, int], Any] = eval(f"lambda stack, index: {_view(stack, scope)}", scope)
    return function


def _view(kind: Any, scope: dict[str, Any], path: str = "stack") -> str:
    """Return the expression that builds one state, and add the classes it names to `scope`."""
    if isinstance(kind, types.Array):
        return f"{path}[index]"
    name = f"record_{len(scope)}"
    scope[name] = kind.instance_class
    parts = zip(kind.fields, kind.types, strict=True)
    inner = ", ".join(_view(part, scope, f"{path}.{field}") for field, part in parts)
    return f"{name}({inner})"
