"""Repeated attempts at a request: everything except sending and waiting, which each client does."""

import math
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar

import httpx

from belated.client.calls import Call
from belated.client.errors import UNAVAILABLE, ServiceUnavailable

T = TypeVar("T")
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True)
class Patience:
    """How long a client tries to send a request, with all attempts and the waits between them.

    Args:
        seconds: the deadline of all attempts together.
        first: the first wait in seconds; each further wait is twice as long. Waits are shortened at
            random by up to a half, so that many clients do not come back at the same time.
        most: the longest wait, unless the service asks for a longer one (Retry-After).
        reconnects: whether to try again if there is no connection to the service.
    """

    seconds: float = 60.0
    first: float = 0.1
    most: float = 5.0
    reconnects: bool = True

    def __post_init__(self) -> None:
        if not (0.0 < self.seconds < math.inf):
            raise ValueError(f"seconds is {self.seconds!r}; it must be above 0 and finite")
        if not (0.0 <= self.first <= self.most and math.isfinite(self.most)):
            raise ValueError(
                f"first is {self.first!r} and most is {self.most!r}; they must be finite, and "
                "0 <= first <= most"
            )

    def wait(self, failures: int, asked_for: float) -> float:
        """Seconds to wait after so many failures, or longer if the service asks for it."""
        longest = min(self.most, math.ldexp(self.first, min(failures - 1, 60)))
        return max(random.uniform(0.5, 1.0) * longest, asked_for)


class Attempts(Generic[T]):
    """The attempts at one call: while `goes_on`, wait for `wait` seconds, then send the request.

    An attempt may take `timeout` seconds, and all of them until the deadline. A call that may not
    be repeated has one attempt, with all the time there is.
    """

    def __init__(
        self,
        call: Call[T],
        patience: Patience,
        timeout: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._call, self._patience, self._timeout, self._clock = call, patience, timeout, clock
        self._started = clock()
        self._deadline = self._started + max(patience.seconds, call.seconds)
        self._until = self._deadline  # the end of this attempt
        self._failures = 0
        self._answer: httpx.Response | None = None
        self._parts: list[bytes] = []
        self.goes_on, self.wait = True, 0.0

    def request(self, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """The request, which is the same in all attempts but for the time it may take."""
        call, now = self._call, self._clock()
        limit = max(self._timeout, call.seconds) if call.repeatable else math.inf
        self._until = min(self._deadline, now + limit)
        return http.build_request(
            call.method,
            call.path,
            json=call.body,
            headers=call.headers,
            timeout=httpx.Timeout(self.left, connect=min(self.left, self._timeout)),
        )

    @property
    def left(self) -> float:
        """The seconds that are left of this attempt."""
        return max(1e-3, self._until - self._clock())

    def take(self, part: bytes) -> None:
        """Take a part of the answer's body; ReadTimeout if the time of the attempt is over.

        Without this a service that sends a byte now and then would be waited for without end.
        """
        self._parts.append(part)
        if self._clock() > self._until:
            raise httpx.ReadTimeout("the answer did not end in time")

    @contextmanager
    def sending(self) -> Iterator[None]:
        """The context for sending: a request that is not answered may be sent again."""
        self._parts.clear()
        try:
            yield
        except (httpx.TransportError, TimeoutError) as error:
            sent = not isinstance(error, NOT_SENT)
            again = self._call.repeatable if sent else self._patience.reconnects
            if not again or not self._may_try_again(0.0):
                raise ServiceUnavailable(self._lost(error, sent)) from error

    def receive(self, answer: httpx.Response) -> None:
        """Take an answer, whose body was taken before; some answers ask for another attempt."""
        asked_for = seconds_of(answer.headers.get("retry-after", ""))
        if answer.status_code not in UNAVAILABLE or not self._may_try_again(asked_for):
            self._answer, self.goes_on = answer, False

    def result(self) -> T:
        """The result of the answer; the error that it stands for is raised."""
        answer = self._answer
        assert answer is not None
        return self._call.answered(
            answer.status_code, b"".join(self._parts), answer.headers.get("x-request-id")
        )

    def _may_try_again(self, asked_for: float) -> bool:
        """Whether there is time for another attempt after a wait, which is then set."""
        self._failures += 1
        self.wait = self._patience.wait(self._failures, asked_for)
        return self._clock() + self.wait < self._deadline

    def _lost(self, error: Any, sent: bool) -> str:
        tried = "once" if self._failures <= 1 else f"{self._failures} times"
        took = f"{self._clock() - self._started:.2g} s"
        reason = str(error) or type(error).__name__
        fate = "; it may have been done" if sent else ""
        what = f"{self._call.method} {self._call.path}"
        return f"{what} was tried {tried} in {took} and not answered: {reason}{fate}"


def seconds_of(retry_after: str) -> float:
    """The seconds that a Retry-After header asks to wait: a number, or a date; else 0."""
    if retry_after.isdigit():
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return 0.0
