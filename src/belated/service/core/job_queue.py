"""The queue of the commit thread, which is woken as seldom as possible.

A thread that is woken for every request costs more than the request, and competes with the thread
that reads the next ones. So whoever takes from the queue says how many requests it waits for, and
is woken when there are so many, or when its time is over.
"""

import queue
import time
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

from belated.service.core.requests import Request, records_in

Token = Any


class Job(NamedTuple):
    """A request, and the token with which its answer is delivered."""

    request: Request
    token: Token


class JobQueue:
    """Requests in the order in which they came; any thread may add, and one takes."""

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._bell: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._wanted = 1
        self._ended = False

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, jobs: Iterable[Job]) -> None:
        """Add requests, and wake whoever waits for so many."""
        self._jobs.extend(jobs)
        if len(self._jobs) >= self._wanted:
            self._bell.put(None)

    def end(self) -> None:
        """Say that no more will come."""
        self._ended = True
        self._bell.put(None)

    def wait(self, number: int, seconds: float) -> bool:
        """Wait until there are so many requests, or for so long; returns whether there is any."""
        self._wanted = number  # before the first look: what is added later rings the bell
        until = time.perf_counter() + seconds
        while len(self._jobs) < number and not self._ended:
            left = until - time.perf_counter()
            if left <= 0.0:
                break
            try:
                self._bell.get(timeout=left)
            except queue.Empty:
                break
        return bool(self._jobs)

    def taken(self, records: int) -> tuple[list[Job], bool]:
        """Take requests of about so many records, and whether more may come."""
        self._wanted = 1
        jobs: list[Job] = []
        while self._jobs and records > 0:
            jobs.append(self._jobs.popleft())
            records -= records_in(jobs[-1].request)
        return jobs, bool(self._jobs) or not self._ended
