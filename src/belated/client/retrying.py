"""Repeated attempts at a request: everything except sending and waiting, which each client does."""

import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import httpx

from belated.client.calls import Call
from belated.client.errors import UNAVAILABLE, ServiceUnavailable

T = TypeVar("T")
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True)
class Patience:
    """How often a request is sent, and the waits between: 0.1 s, 0.2 s, ... up to `most`.

    Each wait is shortened by a random part of up to a half, so that many clients do not come back
    at the same time.
    """

    attempts: int = 6
    first: float = 0.1
    most: float = 5.0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"attempts is {self.attempts!r}; it must be at least 1")
        if not (0.0 <= self.first <= self.most and math.isfinite(self.most)):
            raise ValueError(
                f"first is {self.first!r} and most is {self.most!r}; they must be finite, and "
                "0 <= first <= most"
            )

    def wait(self, failures: int, asked_for: float) -> float:
        """Seconds to wait after so many failures, or longer if the service asks for it."""
        longest = min(self.most, math.ldexp(self.first, min(failures - 1, 60)))
        return max(random.uniform(0.5, 1.0) * longest, min(asked_for, self.most))


class Attempts(Generic[T]):
    """The attempts at one call: while `goes_on`, wait for `wait` seconds, then send the request."""

    def __init__(self, call: Call[T], patience: Patience) -> None:
        self._call, self._patience = call, patience
        self._failures = 0
        self._answer: httpx.Response | None = None
        self.goes_on, self.wait = True, 0.0

    def request(self, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """The request, which is the same in all attempts."""
        call, limits = self._call, http.timeout.as_dict()
        limits["read"] = max(limits["read"] or 0.0, call.seconds)
        return http.build_request(
            call.method,
            call.path,
            json=call.body,
            headers=call.headers,
            timeout=httpx.Timeout(**limits),
        )

    @contextmanager
    def sending(self) -> Iterator[None]:
        """The context for sending: a request that is not answered may be sent again."""
        try:
            yield
        except httpx.TransportError as error:
            sent = not isinstance(error, NOT_SENT)
            if self._is_last() or (sent and not self._call.repeatable):
                raise ServiceUnavailable(self._lost(error, sent)) from error
            self._again(0.0)

    def receive(self, answer: httpx.Response) -> None:
        """Take an answer; some answers ask for another attempt."""
        if answer.status_code in UNAVAILABLE and not self._is_last():
            after = answer.headers.get("retry-after", "")
            self._again(float(after) if after.isdigit() else 0.0)
        else:
            self._answer, self.goes_on = answer, False

    def result(self) -> T:
        """The result of the answer; the error that it stands for is raised."""
        answer = self._answer
        assert answer is not None
        return self._call.answered(
            answer.status_code, answer.content, answer.headers.get("x-request-id")
        )

    def _is_last(self) -> bool:
        return self._failures + 1 >= self._patience.attempts

    def _again(self, asked_for: float) -> None:
        self._failures += 1
        self.wait = self._patience.wait(self._failures, asked_for)

    def _lost(self, error: Any, sent: bool) -> str:
        times = self._failures + 1
        tried = "once" if times == 1 else f"{times} times"
        reason = str(error) or type(error).__name__
        fate = "; it may have been done" if sent else ""
        what = f"{self._call.method} {self._call.path}"
        return f"{what} was tried {tried} and not answered: {reason}{fate}"
