"""A pool of worker processes on one socket: one that dies is replaced, and all end together."""

import ctypes
import logging
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, MutableSequence
from multiprocessing.connection import wait
from types import FrameType

from prometheus_client.multiprocess import mark_process_dead

from belated.service.run.fair_acceptor import NOT_SERVING, WorkerPlace
from belated.service.web.metrics import SHARED

log = logging.getLogger(__name__)

CONTEXT = multiprocessing.get_context("spawn")
PAUSE = 0.5  # seconds between two checks for dead workers
GLANCE = 0.02  # seconds between two checks while the workers start
PR_SET_PDEATHSIG = 1  # the option of Linux's prctl: a signal for when the parent ends

Work = Callable[[WorkerPlace], None]


class Worker:
    """A worker process; `ready` is set when it serves.

    It shares the socket with the others, and the numbers of connections that each of them has.
    """

    def __init__(self, work: Work, place: int, connections: "MutableSequence[int]") -> None:
        self.ready, self._place, self._connections = CONTEXT.Event(), place, connections
        self.process = CONTEXT.Process(
            target=serve_while_supervised,
            args=(work, WorkerPlace(self.ready.set, place, connections)),
            daemon=True,
        )
        self.process.start()

    def end(self) -> None:
        """Wait until it has ended, and remove it from the gauge of workers."""
        self.process.join()
        self._connections[self._place] = NOT_SERVING
        mark_process_dead(self.process.pid)  # type: ignore[no-untyped-call]


def serve_while_supervised(work: Work, place: WorkerPlace) -> None:
    """Do the work of a worker; it ends at once when the supervisor does, however that ended.

    It would otherwise go on to hold the port, and nobody would replace or stop it. An end without
    warning is safe: what was not committed was not answered.
    """
    supervisor = multiprocessing.parent_process()
    assert supervisor is not None
    if sys.platform == "linux":  # at once, even if this process does not come to run
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    def end_with_it() -> None:
        wait([supervisor.sentinel])
        os._exit(1)

    threading.Thread(target=end_with_it, name="supervisor", daemon=True).start()
    try:
        work(place)
    except Exception as error:  # which would else be printed, and not as JSON
        log.exception("the worker failed: %s", error)
        sys.exit(1)


def supervise(work: Work, workers: int, announce: Callable[[], None]) -> None:
    """Run worker processes until SIGTERM or Ctrl-C, then stop them all.

    `work` is given its place, which it calls when it serves; when all do, `announce` is called.
    """
    stopping = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    with tempfile.TemporaryDirectory(prefix="belated-metrics-") as folder:
        os.environ[SHARED] = folder
        connections = CONTEXT.RawArray("i", [NOT_SERVING] * workers)
        pool = [Worker(work, place, connections) for place in range(workers)]
        try:
            if all_ready(pool, stopping):
                announce()
            replace_the_dead(work, pool, connections, stopping)
        finally:
            for worker in pool:
                worker.process.terminate()
            for worker in pool:
                worker.end()


def all_ready(pool: list[Worker], stopping: threading.Event) -> bool:
    """Wait until all workers serve; False if they are stopped before."""
    while not all(worker.ready.is_set() for worker in pool):
        if stopping.wait(GLANCE):
            return False
        dead = [worker for worker in pool if not worker.process.is_alive()]
        if not all(worker.ready.is_set() for worker in dead):
            raise ValueError("the service could not start; its log says why")
    return True


def replace_the_dead(
    work: Work,
    pool: list[Worker],
    connections: "MutableSequence[int]",
    stopping: threading.Event,
) -> None:
    """Replace workers that die, until all are stopped."""
    while not stopping.wait(PAUSE):
        for place, worker in enumerate(pool):
            if not worker.process.is_alive():
                code = worker.process.exitcode
                log.error("worker %s ended with %s; it is replaced", worker.process.pid, code)
                worker.end()
                pool[place] = Worker(work, place, connections)
