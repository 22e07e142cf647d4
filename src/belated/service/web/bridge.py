"""The bridge between the event loop and the commit thread.

Routes await `Bridge.do`; the requests of one turn of the loop go to the commit thread together, and
the answers of one batch come back together.
"""

import asyncio
import contextlib
import functools
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from belated.service.core.commit_thread import CommitThread, Replies
from belated.service.core.errors import UnavailableError
from belated.service.core.requests import Job, Request, RunOnThread
from belated.service.store import Store, StoreUnavailable
from belated.service.web.auth import Authenticator
from belated.service.web.backlog import Backlog
from belated.service.web.metrics import Metrics

log = logging.getLogger(__name__)

Then = Callable[[Any], None]  # is called with an answer or an error; it must not fail

RENEWAL = 2.0  # seconds after which keys are read again
MOST_LONG = 2  # pieces of long work that are done at once


class Bridge:
    """What routes work with: the commit thread, the store for reading, keys and metrics."""

    def __init__(
        self, store: Store, authenticator: Authenticator, metrics: Metrics, guarded: bool
    ) -> None:
        self.store, self.authenticator, self.metrics = store, authenticator, metrics
        self.guarded = guarded
        self.started = time.time()
        self._loop = asyncio.get_running_loop()
        self._thread: CommitThread | None = None
        self._gathered: list[Job] = []
        self._backlog = Backlog()
        self._room_for_long = asyncio.Semaphore(MOST_LONG)
        self._long: set[asyncio.Future[Any]] = set()
        self._stopping = False

    async def open(self, seed: int | None) -> None:
        """Start the commit thread, which first folds the journal."""
        self._thread = await asyncio.to_thread(
            lambda: CommitThread(self.store, self._deliver, self.metrics.observe_batch, seed)
        )
        self.metrics.workers.set(1)

    async def close(self) -> None:
        """Stop the commit thread after all its requests."""
        if self._thread is not None:
            self.metrics.workers.set(0)
            await asyncio.to_thread(self._thread.stop)

    @property
    def is_alive(self) -> bool:
        """Whether the commit thread runs."""
        return self._thread is not None and self._thread.is_alive

    async def do(self, request: Request) -> Any:
        """Have the commit thread carry out a request; returns its answer or raises its error."""
        answer: asyncio.Future[Any] = self._loop.create_future()
        self.send(request, functools.partial(settle, answer))
        return await answer

    def send(self, request: Request, then: Then) -> None:
        """Have the commit thread carry out a request; `then` gets its answer, or its error."""
        if self._thread is None:
            raise UnavailableError("the service is starting")
        if not isinstance(request, RunOnThread):  # these are few, and look after the rest
            self._backlog.check()
        self._backlog.add()
        if not self._gathered:
            self._loop.call_soon(self._hand_over)
        self._gathered.append(Job(request, then))

    def _hand_over(self) -> None:
        """Submit all requests of this turn of the loop together.

        If each were submitted by itself, the commit thread would wake up for the first, and both
        threads would compete for the interpreter lock for every further one.
        """
        jobs, self._gathered = self._gathered, []
        assert self._thread is not None
        try:
            self._thread.submit(jobs)
        except UnavailableError as error:
            self._settle([(job.token, error) for job in jobs])

    async def run_on_thread(self, work: Any) -> Any:
        """Call `work(store, replicas)` on the commit thread, between two batches."""
        return await self.do(RunOnThread(work))

    async def read(self, work: Any) -> Any:
        """Call `work(store)` in another thread."""
        try:
            return await asyncio.to_thread(work, self.store)
        except StoreUnavailable as error:
            raise UnavailableError(str(error)) from None

    async def read_at_length(self, work: Any) -> Any:
        """Call `work(store)`, which may take minutes, in a thread of its own.

        Others wait until there is room, so that they do not take all threads and memory. When the
        service stops, anyone who waits for such work is told so, and no one waits for the thread.
        """
        async with self._room_for_long:
            if self._stopping:
                raise stopping()
            answer: asyncio.Future[Any] = self._loop.create_future()
            self._long.add(answer)
            answer.add_done_callback(self._long.discard)
            run = functools.partial(self._run_at_length, work, answer)
            threading.Thread(target=run, name="long work", daemon=True).start()
            return await answer

    def _run_at_length(self, work: Any, answer: "asyncio.Future[Any]") -> None:
        try:
            found = work(self.store)
        except StoreUnavailable as error:
            found = UnavailableError(str(error))
        except Exception as error:
            found = error
        with contextlib.suppress(RuntimeError):  # the loop has ended, so no one waits any more
            self._loop.call_soon_threadsafe(settle, answer, found)

    def end_long_work(self) -> None:
        """The service stops: tell so to anyone who waits for long work."""
        self._stopping = True
        for answer in list(self._long):
            settle(answer, stopping())

    def _deliver(self, replies: Replies) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, so no one waits any more
            self._loop.call_soon_threadsafe(self._settle, replies)

    def _settle(self, replies: Replies) -> None:
        self._backlog.answered(len(replies))
        for then, answer in replies:
            then(answer)

    async def renew_keys(self) -> None:
        """Read the keys again: another process may have made or revoked some."""
        if self.guarded:
            self.authenticator.renew(await self.read(lambda store: store.keys.all()))

    async def keep_keys_fresh(self) -> None:
        """Read the keys again every RENEWAL seconds, until cancelled."""
        while True:
            await asyncio.sleep(RENEWAL)
            try:
                await self.renew_keys()
            except UnavailableError as error:
                log.warning("the keys could not be read again: %s", error)
            except Exception:  # it must go on, or no key could be revoked any more
                log.exception("the keys could not be read again")


def stopping() -> UnavailableError:
    """The error for long work that is not finished before the service ends."""
    return UnavailableError("the service is stopping")


def settle(future: asyncio.Future[Any], answer: Any) -> None:
    """Set the answer of a future, unless no one waits for it any more."""
    if future.done():
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
