"""Steps whose rows of plays pass through memory: one code for rows of any width.

A step usually returns the frozen row of a play as a tuple, and takes it back, which is quickest. So
its code is for rows of one width. Where the width depends on the options of a learner, such as the
number of features of a context, there would be a step to compile for each number. There the row
stays in the memory of the workspace, and is read and written here.
"""

import struct
from collections.abc import Callable
from typing import Any

from belated.arrays import Floats


class RowStep:
    """A step, plain or compiled, that is called as if its rows were passed.

    `step` may be exchanged between two calls. A plain step returns the row, too; a compiled one
    does not.
    """

    __slots__ = ("__weakref__", "_memory", "_pack", "_unpack", "step")

    def __init__(self, step: Callable[..., Any], plays: Floats) -> None:
        self.step = step
        row = struct.Struct(f"{plays.shape[1]}d")
        self._pack, self._unpack, self._memory = row.pack_into, row.unpack_from, plays.data

    def ask(self, address: int, mode: int) -> tuple[Any, ...]:
        """Call a step that plays a round; returns the arm, the probability and the row."""
        drawn = self.step(address, mode)
        return drawn[0], drawn[1], *self._unpack(self._memory)

    def tell(self, address: int, drawn: tuple[Any, ...], *others: Any) -> Any:
        """Call a step that learns the loss of a play, with what `ask` returned for it."""
        self._pack(self._memory, 0, *drawn[2:])
        return self.step(address, drawn[:2], *others)
