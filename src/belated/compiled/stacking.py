"""Many states of one kind in one record, and a view of a single one of them.

A stack is a state whose arrays all have one more dimension, in front, for the number of the copy.
`copy_of` is the state of one copy: rows of the stack's arrays, in records of the same classes.
"""

from typing import Any

import numpy as np


def copy_of(stack: Any, index: int) -> Any:
    """Return one of the stacked states, as a view: writing to it writes to the stack."""
    if isinstance(stack, np.ndarray):
        return stack[index]
    return type(stack)(*(copy_of(part, index) for part in stack))
