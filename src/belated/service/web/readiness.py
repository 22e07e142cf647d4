"""Whether the service is ready: it can commit, has read the journal, and which problems it serves.

Anybody may ask, so the answer is found out at most once in FRESH seconds.
"""

import asyncio
import re
import time
from typing import Any, NamedTuple

from belated.service.core.errors import RequestError
from belated.service.core.replicas import Replicas
from belated.service.store import Lag, Store, StoreUnavailable
from belated.service.web.bridge import Bridge

FRESH = 1.0  # seconds
PATIENCE = 5.0  # seconds for a commit
WHERE = re.compile(r"connection to server .*? failed: (FATAL: +)?")  # what drivers say of it


class ReadinessReport(NamedTuple):
    """What keeps the service from being ready, how far it lags, and the problems it cannot serve.

    A problem that cannot be served leaves the service ready for all others.
    """

    reasons: tuple[str, ...]
    lag: Lag | None = None
    broken: tuple[str, ...] = ()


class Readiness:
    """Finds out whether a service can commit, and lags by at most `most_lag` seconds."""

    def __init__(self, bridge: Bridge, most_lag: float) -> None:
        self._bridge, self._most_lag = bridge, most_lag
        self._lock = asyncio.Lock()
        self._latest, self._at = ReadinessReport(("the service is starting",)), -FRESH

    async def report(self) -> ReadinessReport:
        """The latest report, which is not older than FRESH seconds."""
        async with self._lock:
            if time.monotonic() - self._at >= FRESH:
                self._latest = await self._examined()
                self._at = time.monotonic()
        return self._latest

    async def _examined(self) -> ReadinessReport:
        if not self._bridge.is_alive:
            return ReadinessReport(("the commit thread has stopped",))
        try:
            async with asyncio.timeout(PATIENCE):
                found: ReadinessReport = await self._bridge.run_on_thread(self._examine)
                return found
        except TimeoutError:
            return ReadinessReport((f"nothing could be committed for {PATIENCE:g} s",))
        except RequestError as error:
            return ReadinessReport((str(error),))

    def _examine(self, store: Store, replicas: Replicas) -> ReadinessReport:
        """Commit a probe, and look how far the journal was read; on the commit thread."""
        broken = tuple(sorted(replicas.broken))
        try:
            store.probe.commit()
            lag = replicas.lag(time.time())
        except StoreUnavailable as error:  # as a value: the replicas are as good as before
            return ReadinessReport((str(error),), broken=broken)
        if lag.seconds <= self._most_lag:
            return ReadinessReport((), lag, broken)
        sentence = (
            f"{lag.rows} events of the journal wait to be read, the oldest for {lag.seconds:.0f} s"
        )
        return ReadinessReport((sentence,), lag, broken)


def readiness_view(report: ReadinessReport, interpreted: list[str]) -> dict[str, Any]:
    """A report as an object for JSON, for anybody.

    Where the database is, and what delays the journal, is in the log only.
    """
    lag = report.lag
    return {
        "status": "not ready" if report.reasons else "ready",
        "reasons": [WHERE.sub("", each) for each in report.reasons],
        "lag": None if lag is None else {"rows": lag.rows, "seconds": lag.seconds},
        "broken": list(report.broken),
        "interpreted": interpreted,
    }
