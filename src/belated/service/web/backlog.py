"""How long a new request would wait, so that it is refused at once if that is too long.

A request that waits longer than its caller does is carried out for no one, and makes all others
wait longer. It is better told to come again.
"""

import math
import time
from collections.abc import Callable

from belated.service.core.errors import UnavailableError

MOST_SECONDS = 1.5  # that a request may have to wait
FEW = 200  # requests that may always wait: a small crowd is soon answered
MOST_RETRY = 5  # seconds after which to come again, at most
WINDOW = 0.25  # seconds over which the rate of answers is measured


class Backlog:
    """Counts the requests that wait, and the rate at which they are answered."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting = 0
        self._rate = math.inf  # answers a second to a crowd, as last measured
        self._since, self._answered, self._crowd = 0.0, 0, 0

    def check(self) -> None:
        """Raise UnavailableError if a request would wait too long; it says when to come again."""
        seconds = self.seconds()
        if seconds > MOST_SECONDS:
            raise UnavailableError(
                f"{self._waiting} requests are waiting, which takes about {seconds:.1f} s; "
                "nothing was done, send it again",
                retry_after=min(MOST_RETRY, math.ceil(seconds)),
            )

    def add(self) -> None:
        """Count a request that comes to wait."""
        if self._waiting == 0:
            self._begin(self._clock())
        self._waiting += 1
        self._crowd = max(self._crowd, self._waiting)

    def answered(self, number: int) -> None:
        """Count requests that were answered together."""
        self._waiting -= number
        self._answered += number
        now = self._clock()
        if now - self._since >= WINDOW:
            # A few are answered no faster than they come; only a crowd shows what is possible.
            if self._crowd >= FEW:
                self._rate = self._answered / (now - self._since)
            self._begin(now)

    def _begin(self, now: float) -> None:
        """Begin a new window: its time, its answers, and the largest number that has waited."""
        self._since, self._answered, self._crowd = now, 0, self._waiting

    def seconds(self) -> float:
        """The seconds that a new request would wait, 0 if few are waiting."""
        if self._waiting < FEW:
            return 0.0
        standstill = 0.0 if self._answered else self._clock() - self._since
        return max(self._waiting / self._rate, standstill)
