"""Work that is counted rather than timed, so that it is the same on every machine."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any


@dataclass
class Count:
    """How many instructions Python has carried out; compiled code counts for one call."""

    instructions: int = 0


@contextmanager
def counting_instructions() -> Iterator[Count]:
    """Count the instructions of everything that is called within, in this thread."""
    count, before = Count(), sys.gettrace()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        frame.f_trace_opcodes = True
        count.instructions += event == "opcode"
        return trace

    sys.settrace(trace)
    try:
        yield count
    finally:
        sys.settrace(before)
