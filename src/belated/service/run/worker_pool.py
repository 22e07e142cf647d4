"""Several workers on one socket: one that dies is replaced, and all end together."""

import logging
import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable
from types import FrameType

from prometheus_client.multiprocess import mark_process_dead

from belated.service.run.metrics import SHARED

log = logging.getLogger(__name__)

PAUSE = 0.5  # seconds between two looks, and so before a dead worker is replaced
GLANCE = 0.02  # the same until all are ready

Work = Callable[[Callable[[], None]], None]


class Worker:
    """A process that shares nothing with this one but the socket, and says when it is ready."""

    def __init__(self, work: Work) -> None:
        context = multiprocessing.get_context("spawn")
        self.ready = context.Event()
        self.process = context.Process(target=work, args=(self.ready.set,), daemon=True)
        self.process.start()

    def end(self) -> None:
        """Wait until it has ended; it is not counted any more."""
        self.process.join()
        mark_process_dead(self.process.pid)  # type: ignore[no-untyped-call]


def supervise(work: Work, workers: int, announce: Callable[[], None]) -> None:
    """Run so many processes until SIGTERM or Ctrl-C, which they all get.

    `work` is told whom to call when it is ready; once all are, `announce` is called.
    """
    stopping = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    with tempfile.TemporaryDirectory(prefix="belated-metrics-") as folder:
        os.environ[SHARED] = folder
        crew = [Worker(work) for _ in range(workers)]
        try:
            if all_ready(crew, stopping):
                announce()
            replace_the_dead(work, crew, stopping)
        finally:
            for worker in crew:
                worker.process.terminate()
            for worker in crew:
                worker.end()


def all_ready(crew: list[Worker], stopping: threading.Event) -> bool:
    """Wait until all workers have answered; False if they are to be stopped before."""
    while not all(worker.ready.is_set() for worker in crew):
        if stopping.wait(GLANCE):
            return False
        dead = [worker for worker in crew if not worker.process.is_alive()]
        if not all(worker.ready.is_set() for worker in dead):
            raise ValueError("the service could not start; its log says why")
    return True


def replace_the_dead(work: Work, crew: list[Worker], stopping: threading.Event) -> None:
    """See to it that there are always as many workers."""
    while not stopping.wait(PAUSE):
        for place, worker in enumerate(crew):
            if not worker.process.is_alive():
                code = worker.process.exitcode
                log.error("worker %s ended with %s; it is replaced", worker.process.pid, code)
                worker.end()
                crew[place] = Worker(work)
