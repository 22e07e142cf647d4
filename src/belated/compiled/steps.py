"""Steps: functions that are compiled as a whole, and called with the address of a handle.

Of each learner only its steps are compiled, kept and called; all other kernels are inside them.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

from belated.compiled.kernels import Kernel, interpreted

Function = TypeVar("Function", bound=Callable[..., Any])

# What a step is called with and what it returns:
# - ask(handle, mode) -> (arm, probability, *row)
# - tell(handle, (arm, probability, *row), loss, missing, mode) -> bool
# - ask experts(handle, mode), tell experts(handle, arms, plays, losses)
# - play(handle, losses, missing, feedback, delays, first, rounds, and three booleans)
# - count(handle, delays, missing, first, rounds)
Shape = Literal["ask", "tell", "ask experts", "tell experts", "play", "count"]


def compiled_step(shape: Shape) -> Callable[[Function], Function]:
    """Mark a function as a step of a shape, which says what it is called with.

    It keeps the GIL if it is so short that releasing it would cost more. Other steps may call it.
    """

    def mark(function: Function) -> Function:
        kernel = Kernel(function, {"forceinline": True})
        run: Any = interpreted(kernel)
        run.belated_kernel, run.belated_shape = kernel, shape
        return cast(Function, run)

    return mark


def shape_of(step: Any) -> Shape:
    """Return the shape of a step."""
    shape: Shape = step.belated_shape
    return shape


def name_of(step: Any) -> str:
    """Return the name of a step as `module:name`, by which another process finds it."""
    return f"{step.__module__}:{step.__qualname__}"
