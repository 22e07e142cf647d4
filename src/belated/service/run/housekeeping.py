"""What a running service does by itself from time to time: retention, and deleting what is left.

It works in a thread of its own, a few milliseconds at a time with pauses between them, so that
requests hardly wait for it. Of several workers one does it. Whatever fails is tried again later.
"""

import asyncio
import logging
import threading
import time
from pathlib import Path

from belated.service.upkeep.archive import Archive
from belated.service.upkeep.retention import commit, prepared, sweep, sweep_deleted
from belated.service.web.bridge import Bridge

log = logging.getLogger(__name__)

SHARE = 20  # a retention is due after this part of the age, or after a day if that is sooner
SHORTEST, LONGEST = 1.0, 86_400.0  # seconds between two retentions
LOOK = 60.0  # seconds between two looks for what is left to be deleted
PAUSE = 2.0  # times as long as the piece of work before it


class Stopping(Exception):
    """The service stops, and so must its housekeeping."""


class Housekeeping:
    """The thread; it begins at once and goes on until `stop`."""

    def __init__(self, bridge: Bridge, retain: float | None, archive: str | None) -> None:
        self._bridge, self._retain = bridge, retain
        self._folder = None if archive is None else Path(archive)
        self._loop = asyncio.get_running_loop()
        self._stopping, self._awake = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Look at once for what is to be deleted."""
        self._awake.set()

    async def stop(self) -> None:
        """End the thread; what it has begun is done by a later retention."""
        self._stopping.set()
        self.wake()
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        every = LONGEST if self._retain is None else self._retain / SHARE
        every = min(LONGEST, max(SHORTEST, every))
        while not self._stopping.is_set():
            try:
                self._keep_house(every)
            except Stopping:
                return
            except Exception as error:
                log.warning("housekeeping failed, and is tried again later: %s", error)
            self._awake.wait(min(every, LOOK))
            self._awake.clear()

    def _keep_house(self, every: float) -> None:
        store = self._bridge.store
        with store.retaining() as alone:
            reached = store.checkpoints.reached()
            if not alone:
                return
            if not reached.swept:
                self._sweep()
            if store.being_deleted():
                log.info("%d rows of deleted problems", sum(sweep_deleted(store, self._pause)))
            if self._retain is not None and time.time() - reached.at >= every:
                self._retain_now(self._retain)

    def _retain_now(self, older_than: float) -> None:
        store, archive = self._bridge.store, None
        if self._folder is not None:
            archive = Archive(self._folder)
        found = prepared(store, older_than, time.time(), archive, self._pause)
        if found is not None:
            work = self._bridge.run_on_thread(
                lambda store, replicas: commit(store, replicas, found)
            )
            if asyncio.run_coroutine_threadsafe(work, self._loop).result():
                log.info("%d tickets are in checkpoints now", found.tickets)
        if archive is not None:
            archive.settle(store.checkpoints.reached().position)
        self._sweep()

    def _sweep(self) -> None:
        deleted = sum(sweep(self._bridge.store, self._pause))
        if deleted:
            log.info("%d rows before the checkpoints were deleted", deleted)

    def _pause(self, seconds: float) -> None:
        if self._stopping.wait(PAUSE * seconds):
            raise Stopping
