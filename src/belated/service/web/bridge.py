"""Between the event loop and the desk: requests go over, answers come back, a group at a time."""

import asyncio
import contextlib
import logging
import time
from typing import Any

from belated.service.core.commit_thread import Desk, Job, Replies
from belated.service.core.errors import Unavailable
from belated.service.core.requests import Call, Request
from belated.service.run.metrics import Metrics
from belated.service.store import Store, StoreUnavailable
from belated.service.web.auth import Guard

log = logging.getLogger(__name__)

RENEWAL = 2.0  # seconds after which keys are read again


class Front:
    """What routes work with."""

    def __init__(self, store: Store, guard: Guard, metrics: Metrics, guarded: bool) -> None:
        self.store, self.guard, self.metrics = store, guard, metrics
        self.guarded = guarded
        self.started = time.time()
        self._loop = asyncio.get_running_loop()
        self._desk: Desk | None = None
        self._gathered: list[Job] = []

    async def open(self, seed: int | None) -> None:
        """Start the desk, which first folds the journal."""
        self._desk = await asyncio.to_thread(
            lambda: Desk(self.store, self._deliver, self.metrics, seed)
        )
        self.metrics.workers.set(1)

    async def close(self) -> None:
        """Stop the desk once it has seen to all."""
        if self._desk is not None:
            self.metrics.workers.set(0)
            await asyncio.to_thread(self._desk.stop)

    @property
    def is_well(self) -> bool:
        """Whether the desk sees to requests."""
        return self._desk is not None and self._desk.is_alive

    async def do(self, request: Request) -> Any:
        """What the desk answers; its refusals are raised."""
        if self._desk is None:
            raise Unavailable("the service is starting")
        answer: asyncio.Future[Any] = self._loop.create_future()
        if not self._gathered:
            self._loop.call_soon(self._hand_over)
        self._gathered.append(Job(request, answer))
        return await answer

    def _hand_over(self) -> None:
        """Give the desk all that came in this turn of the loop.

        If it got each request by itself it would wake up for the first, and both threads would
        then take the interpreter from each other for every further one.
        """
        jobs, self._gathered = self._gathered, []
        assert self._desk is not None
        try:
            self._desk.submit(jobs)
        except Unavailable as refusal:
            settle([(job.token, refusal) for job in jobs])

    async def look(self, work: Any) -> Any:
        """What is found in store and replicas between two groups."""
        return await self.do(Call(work))

    async def read(self, work: Any) -> Any:
        """What is read from the store in another thread."""
        try:
            return await asyncio.to_thread(work, self.store)
        except StoreUnavailable as error:
            raise Unavailable(str(error)) from None

    def _deliver(self, replies: Replies) -> None:
        with contextlib.suppress(RuntimeError):  # nobody waits any more
            self._loop.call_soon_threadsafe(settle, replies)

    async def renew_keys(self) -> None:
        """Read the keys again: others may have made or revoked some."""
        if self.guarded:
            self.guard.renew(await self.read(lambda store: store.keys.all()))

    async def keep_keys_fresh(self) -> None:
        """Do so for ever."""
        while True:
            await asyncio.sleep(RENEWAL)
            try:
                await self.renew_keys()
            except Unavailable as error:
                log.warning("the keys could not be read again: %s", error)


def settle(replies: Replies) -> None:
    """Hand answers to those who wait for them."""
    for future, answer in replies:
        if future.done():
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
