"""Connections on which single asks and tells take the short way (see `direct_requests`)."""

from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from belated.service.run.connections import ConnectionLimits, LimitedProtocol
from belated.service.run.direct_requests import (
    DirectRequest,
    DirectRequests,
    Headers,
    direct_request,
)


class NobodyWaits:
    """In place of the event with which the server tells a task that something has come."""

    def set(self) -> None:
        """Do nothing: no task waits for the rest of this request."""


class DirectCycle:
    """A request on the short way, in place of the server's own record of a request."""

    message_event = NobodyWaits()
    response_started = False

    def __init__(self) -> None:
        self.response_complete = False
        self.disconnected = False
        self.keep_alive = True


class DirectProtocol(LimitedProtocol):
    """A connection with limits, on which single asks and tells take the short way."""

    def __init__(
        self, *arguments: Any, limits: ConnectionLimits, direct: DirectRequests, **named: Any
    ) -> None:
        super().__init__(*arguments, limits=limits, **named)
        self._direct = direct
        self._request: DirectRequest | None = None  # the one that is arriving
        self._body = b""
        self.cycle: Any

    # -- what the parser calls

    def on_headers_complete(self) -> None:
        """Choose the way of a request whose head is complete."""
        self._request = direct_request(self.url, self.headers) if self._is_plain() else None
        if self._request is None:
            super().on_headers_complete()
        else:
            self._in_head, self._body, self.cycle = False, b"", DirectCycle()

    def _is_plain(self) -> bool:
        """Whether only this request has to be handled: no other is in progress."""
        return (
            (self.cycle is None or self.cycle.response_complete)
            and not self.flow.write_paused
            and self.parser.get_method() == b"POST"
            and self.parser.get_http_version() == "1.1"
            and self.parser.should_keep_alive()
        )

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        if self._request is None:
            super().on_body(body)
        else:
            self._body += body

    def on_message_complete(self) -> None:
        """Carry out a request that is complete."""
        request, self._request = self._request, None
        if request is None:
            super().on_message_complete()
            return
        self.since = None
        host = self.client[0] if self.client else "unknown"
        answered = AnswerPlace(self, self.cycle)
        self._direct.carry_out(request, self._body, host, answered)

    def finish(self, cycle: DirectCycle, answer: bytes) -> None:
        """Send the answer to a request, and go on with the next."""
        cycle.response_complete = True
        if cycle.disconnected or self.transport.is_closing():
            return
        self.transport.write(answer)
        if not cycle.keep_alive:
            self.transport.close()
        elif self.pipeline:
            self.on_response_complete()  # which begins the next
        else:
            self.server_state.total_requests += 1
            self.idle_since = self.loop.time()


class AnswerPlace:
    """Where the answer to one request belongs."""

    def __init__(self, connection: DirectProtocol, cycle: DirectCycle) -> None:
        self._connection, self._cycle = connection, cycle

    def respond(self, status: int, headers: Headers, body: bytes) -> None:
        """Send an answer, unless its connection was closed."""
        parts = [STATUS_LINE[status]]
        for name, value in self._connection.server_state.default_headers:
            parts += (name, b": ", value, b"\r\n")
        for name, value in headers:
            parts += (name, b": ", value, b"\r\n")
        if not self._cycle.keep_alive:
            parts.append(b"connection: close\r\n")
        parts += (b"\r\n", body)
        self._connection.finish(self._cycle, b"".join(parts))
