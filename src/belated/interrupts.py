"""Ctrl-C as a flag that long work looks at, instead of an exception at any place.

An exception in the middle of the standard library's locks can leave them broken, so that the
program ends with another error or never.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Whether Ctrl-C was pressed."""

    came = False


@contextmanager
def noticed_interrupts() -> Iterator[Interrupts]:
    """Only note the first Ctrl-C, for the work inside to end in order; a second one is raised.

    Python hears Ctrl-C in the main thread alone; elsewhere nothing is changed.
    """
    seen = Interrupts()

    def note(number: int, frame: FrameType | None) -> None:
        if seen.came:
            signal.default_int_handler(number, frame)
        seen.came = True

    if threading.current_thread() is not threading.main_thread():
        yield seen
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
