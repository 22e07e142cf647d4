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
PATIENCE = 30.0  # seconds for a worker to end; longer than the grace of its requests
GLANCE = 0.02  # seconds between two checks while the workers start
PR_SET_PDEATHSIG = 1  # the option of Linux's prctl: a signal for when the parent ends

Work = Callable[[WorkerPlace], None]


class Worker:
    """A worker process; `ready` is set when it serves.

    It shares the socket with the others, and the numbers of connections that each of them has.
    """

    def __init__(self, work: Work, place: int, connections: "MutableSequence[int]") -> None:
        self._work, self._place, self._connections = work, place, connections
        self.ready = CONTEXT.Event()
        self.process = CONTEXT.Process(
            target=serve_while_supervised,
            args=(work, WorkerPlace(self.ready.set, place, connections)),
            daemon=True,
        )
        self.process.start()

    @property
    def was_killed(self) -> bool:
        """Whether a signal has ended it, by which it may never come to say that it is ready."""
        return (self.process.exitcode or 0) < 0

    def replaced(self) -> "Worker":
        """Another worker in the place of this one, which has ended."""
        code = self.process.exitcode
        log.error("worker %s ended with %s; it is replaced", self.process.pid, code)
        self.end()
        return Worker(self._work, self._place, self._connections)

    def end(self) -> None:
        """Wait until it has ended, and remove it from the gauge of workers.

        One that does not end in time, because it hangs or somebody has stopped it, is killed.
        """
        self.process.join(PATIENCE)
        self.process.kill()
        self.process.join()
        self._connections[self._place] = NOT_SERVING
        mark_process_dead(self.process.pid)  # type: ignore[no-untyped-call]


def serve_while_supervised(work: Work, place: WorkerPlace) -> None:
    """Do the work of a worker; it ends at once when the supervisor does, however that ended.

    It would otherwise go on to hold the port, and no one would replace or stop it. An end without
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
            replace_the_dead(pool, stopping)
        finally:
            for worker in pool:
                worker.process.terminate()
            for worker in pool:
                worker.end()


def all_ready(pool: list[Worker], stopping: threading.Event) -> bool:
    """Wait until all workers serve; False if they are stopped before.

    One that somebody kills is replaced. One that fails by itself would fail again.
    """
    while not all(not worker.was_killed and worker.ready.is_set() for worker in pool):
        if stopping.wait(GLANCE):
            return False
        for place, worker in enumerate(pool):
            if worker.was_killed:
                pool[place] = worker.replaced()
            elif not worker.process.is_alive() and not worker.ready.is_set():
                raise ValueError("the service could not start; its log says why")
    return True


def replace_the_dead(pool: list[Worker], stopping: threading.Event) -> None:
    """Replace workers that die, until all are stopped."""
    while not stopping.wait(PAUSE):
        for place, worker in enumerate(pool):
            if not worker.process.is_alive():
                pool[place] = worker.replaced()
