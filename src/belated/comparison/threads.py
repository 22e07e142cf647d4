"""Jobs in threads on all cores, which an interrupt ends early but in order."""

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from belated.checks import as_count
from belated.interrupts import noticed_interrupts

Job = TypeVar("Job")

POLL = 0.1  # seconds after which an interrupt is noticed at the latest


def as_workers(workers: int | None) -> int:
    """Check a number of threads; None means one for each core."""
    return as_count((os.cpu_count() or 1) if workers is None else workers, "workers", 1)


def run_in_threads(
    run: Callable[[Job], None], jobs: Sequence[Job], workers: int, stop: threading.Event
) -> bool:
    """Run all jobs; returns whether an interrupt ended the work early.

    `stop` is set at the end, so that jobs that are still running can notice that they are not
    needed. An error of a job is raised.
    """
    left, finished = len(jobs), queue.SimpleQueue[Future[None]]()
    with noticed_interrupts() as interrupts, ThreadPoolExecutor(workers) as pool:
        try:
            for job in jobs:
                pool.submit(run, job).add_done_callback(finished.put)
            while left and not interrupts.came:
                with contextlib.suppress(queue.Empty):
                    finished.get(timeout=POLL).result()
                    left -= 1
        except KeyboardInterrupt:
            return True
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    return left > 0
