"""The clock of the service: the time of day, and a time by which tickets expire.

Somebody may set the time of day wrong, and a ticket that expires is closed for good. So expiry
goes by the earlier of two times: the time of day, and the time of day as it was last trusted plus
what the monotonic clock has counted since. A time of day that is set back is trusted at once, one
that is set forward only after it has stood for `PROBATION` seconds.
"""

import logging
import time
from collections.abc import Callable

log = logging.getLogger(__name__)

TOLERANCE = 0.1  # seconds by which the clocks may differ; clocks are set right in smaller steps
PROBATION = 600.0  # seconds until a time of day that was set forward is trusted
AT_ONCE = 0.01  # seconds between which two clocks count as read at once

Clock = Callable[[], float]


class ServiceClock:
    """The time of day, watched by a clock that no one can set."""

    def __init__(self, of_day: Clock = time.time, monotonic: Clock | None = None) -> None:
        self._of_day = of_day
        self._monotonic = monotonic or (time.monotonic if of_day is time.time else of_day)
        now, counted = self._both()
        self._trusted = now - counted  # the time of day when the monotonic clock was 0
        self._doubted_since: float | None = None

    def now(self) -> float:
        """The time of day, in seconds since the epoch."""
        return self._of_day()

    def for_expiry(self) -> float:
        """The time by which tickets expire: the time of day, unless that was just set forward."""
        now, counted = self._both()
        ahead = now - counted - self._trusted
        if ahead < -TOLERANCE:
            log.warning("the time of day was set back by %.1f s", -ahead)
        if ahead <= TOLERANCE:
            self._trusted, self._doubted_since = now - counted, None
            return now
        if self._doubted_since is None:
            self._doubted_since = counted
            log.warning(
                "the time of day was set forward by %.1f s; tickets expire by the time before that "
                "until it has stood for %.0f s",
                ahead,
                PROBATION,
            )
        if counted - self._doubted_since >= PROBATION:
            self._trusted, self._doubted_since = now - counted, None
            return now
        return self._trusted + counted

    def _both(self) -> tuple[float, float]:
        """The time of day and the monotonic clock at one moment, even on a busy machine."""
        while True:
            before, now, after = self._monotonic(), self._of_day(), self._monotonic()
            if after - before < AT_ONCE:
                return now, after
