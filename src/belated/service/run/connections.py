"""Limits on connections, which hold before anybody has shown a key.

The server's HTTP protocol has none of its own: it would keep headers without end, and connections
that never send anything. `LimitedProtocol` adds them:

- the head of a request (its first line and headers) has at most HEAD_BYTES and MOST_HEADERS
- a request has arrived completely after REQUEST_SECONDS, or its connection is closed
- a request has at most `request_bytes`, however it is cut into chunks
- there are at most `connections`; above, a new one takes the place of the one that has waited
  longest without a request in progress
"""

import http
import json
import math
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 32_768
MOST_HEADERS = 100
REQUEST_SECONDS = 20.0  # from the connection, or the request's first byte, to its last
MOST_CONNECTIONS = 4096
SPARE_FILES = 100  # for databases, logs and what else a process opens


class ConnectionLimits(NamedTuple):
    """The limits that depend on the settings and on the machine."""

    connections: int
    request_bytes: int


def limits_for(most_bytes: int) -> ConnectionLimits:
    """The limits of a process whose bodies have at most so many bytes.

    A body in the smallest chunks is several times as long as its text; twice is enough for any
    that a client would send.
    """
    files = most_files()
    connections = min(MOST_CONNECTIONS, max(files - SPARE_FILES, files // 2))
    return ConnectionLimits(connections, HEAD_BYTES + 2 * most_bytes)


def most_files() -> int:
    """The number of files and connections that this process may have open."""
    if sys.platform == "win32":
        return MOST_CONNECTIONS + SPARE_FILES
    import resource

    files: int = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return files if files != resource.RLIM_INFINITY else MOST_CONNECTIONS + SPARE_FILES


class Refusal(Exception):
    """A request that is refused by its connection, with a status and a sentence."""

    def __init__(self, status: http.HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class LimitedProtocol(HttpToolsProtocol):
    """A connection with limits; `since` is when it began to wait for the rest of a request."""

    def __init__(self, *arguments: Any, limits: ConnectionLimits, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._limits = limits
        self._received = 0  # bytes of the present request
        self._in_head = True
        self._refusal: Refusal | None = None
        self.since: float | None = None
        self.idle_since = math.inf  # the end of the last request, where no timer runs instead

    # -- what the event loop calls

    def connection_made(self, transport: Any) -> None:
        """Take the connection, or refuse it if there are too many and all are busy."""
        super().connection_made(transport)
        self.since = self.loop.time()
        if len(self.connections) > self._limits.connections:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Parse what has come, piece by piece, as long as it is within the limits."""
        for start in range(0, len(data), HEAD_BYTES):
            piece = data[start : start + HEAD_BYTES]
            self._received += len(piece)
            super().data_received(piece)
            if self.transport.is_closing():
                return
            if self._in_head and self._received > HEAD_BYTES:
                self._refuse(too_long(f"the head of a request has more than {HEAD_BYTES} bytes"))
                return
            if self._received > self._limits.request_bytes:
                most = self._limits.request_bytes
                large = http.HTTPStatus.REQUEST_ENTITY_TOO_LARGE
                self._refuse(Refusal(large, f"a request has more than {most} bytes"))
                return

    # -- what the parser calls

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._received, self._in_head, self.since = 0, True, self.loop.time()
        self.idle_since = math.inf

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those that come after a body are ignored."""
        if not self._in_head:
            return
        if len(self.headers) >= MOST_HEADERS:
            self._refusal = too_long(f"a request has more than {MOST_HEADERS} headers")
            raise self._refusal
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head of a request is complete, so it is carried out."""
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """A request is complete."""
        self.since = None
        super().on_message_complete()

    # -- refusals

    def send_400_response(self, msg: str) -> None:
        """Answer what the parser does not understand, or what a limit made it refuse."""
        self._refuse(self._refusal or Refusal(http.HTTPStatus.BAD_REQUEST, "this is not HTTP"))

    @property
    def is_busy(self) -> bool:
        """Whether a request that has arrived completely is being carried out."""
        return self.since is None and self.cycle is not None and not self.cycle.response_complete

    def close_if_overdue(self, now: float) -> None:
        """Close the connection if the rest of its request has not come in time."""
        if self.since is not None and now - self.since > REQUEST_SECONDS:
            late = http.HTTPStatus.REQUEST_TIMEOUT
            self._refuse(Refusal(late, f"no request was complete after {REQUEST_SECONDS:g} s"))
        elif not self.is_busy and now - self.idle_since > self.timeout_keep_alive:
            self.transport.close()

    def _make_room(self) -> None:
        """Close the connection that has waited longest for a request, or else this one."""
        waiting = [each for each in self.connections if isinstance(each, LimitedProtocol)]
        waiting = [each for each in waiting if each is not self and not each.is_busy]
        # Those that are between two requests go only if all others are busy.
        oldest = min(waiting, key=lambda each: (each.since is None, each.since), default=None)
        if oldest is not None:
            oldest.transport.abort()
            self.connections.discard(oldest)
        else:
            full = http.HTTPStatus.SERVICE_UNAVAILABLE
            self._refuse(Refusal(full, "too many connections; try again later"))

    def _refuse(self, refusal: Refusal) -> None:
        """Answer with a refusal, unless an answer is in progress, and close the connection."""
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(answer(refusal))
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()


def too_long(sentence: str) -> Refusal:
    """The refusal of a head that is too long."""
    return Refusal(http.HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, sentence)


def answer(refusal: Refusal) -> bytes:
    """A refusal as a whole response."""
    status = refusal.status
    details = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": str(refusal),
    }
    body = json.dumps(details).encode()
    again = b"retry-after: 1\r\n" if status == http.HTTPStatus.SERVICE_UNAVAILABLE else b""
    return (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode()
        + b"content-type: application/problem+json\r\nconnection: close\r\n"
        + again
        + f"content-length: {len(body)}\r\n\r\n".encode()
        + body
    )


def close_overdue(connections: Iterable[object], now: float) -> None:
    """Close all connections whose request has not come in time."""
    for each in list(connections):
        if isinstance(each, LimitedProtocol):
            each.close_if_overdue(now)
