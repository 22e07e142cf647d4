"""Several workers on one socket: one that dies is replaced, and all end together."""

import logging
import multiprocessing
import signal
import threading
from collections.abc import Callable
from multiprocessing.context import SpawnProcess
from types import FrameType

log = logging.getLogger(__name__)

PAUSE = 0.5  # seconds between two looks, and so before a dead worker is replaced


def supervise(work: Callable[[], None], workers: int) -> None:
    """Run so many processes until SIGTERM or Ctrl-C, which they all get."""
    stopping = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    crew = [started(work) for _ in range(workers)]
    while not stopping.wait(PAUSE):
        for place, process in enumerate(crew):
            if not process.is_alive():
                log.error("worker %s ended with %s; it is replaced", process.pid, process.exitcode)
                crew[place] = started(work)
    for process in crew:
        process.terminate()
    for process in crew:
        process.join()


def started(work: Callable[[], None]) -> SpawnProcess:
    """A new worker; it shares nothing with this process but the socket."""
    process = multiprocessing.get_context("spawn").Process(target=work, daemon=True)
    process.start()
    return process
