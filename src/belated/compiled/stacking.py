"""Many states of one kind stacked in one record, and a single one of them seen through it.

numba wants every record to be of a fixed class, so each kind of stack has a small function of its
own, made from the names of its parts.
"""

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from numba.extending import overload

VIEWS: dict[type, Callable[[Any, int], Any]] = {}  # kind of stack -> one of its states


def stack_of(kind: Any, name: str, more: Sequence[str]) -> type:
    """A kind of record with the parts of `kind`, stacked along a first axis, and some more."""
    parts = [f"copy_{part}" for part in kind._fields]
    stack = namedtuple(name, [*parts, *more])  # type: ignore[misc]
    rows = ", ".join(f"stack.{part}[index]" for part in parts)
    scope = {"kind": kind, "__name__": __name__}
    VIEWS[stack] = eval(f"lambda stack, index: kind({rows})", scope)
    return stack


def copy_of(stack: Any, index: int) -> Any:
    """One of the stacked states; what is written to it is written to the stack."""
    return VIEWS[type(stack)](stack, index)


@overload(copy_of, strict=False, jit_options={"forceinline": True, "error_model": "numpy"})
def _copy_of(stack: Any, index: Any) -> Callable[[Any, int], Any]:
    return VIEWS[stack.instance_class]
