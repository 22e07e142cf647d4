"""The outermost middleware: request ids, the limit on bodies, a log line and the metrics."""

import itertools
import logging
import re
import secrets
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from belated.service.core.errors import TooLargeError
from belated.service.web.error_responses import error_response
from belated.service.web.metrics import Metrics

log = logging.getLogger(__name__)

GONE = 499  # the status in the log of a request whose sender has left
ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
FREQUENT = (
    "ask",
    "tell",
    "cancel",
    ":batch",
    "/rank",
    "/reward",
    "/activate",
)  # endings of routes whose success is not logged


class RequestIds:
    """Request ids: the one that the caller has sent, or one that is unique among all processes."""

    def __init__(self) -> None:
        self._numbers, self._process = itertools.count(1), secrets.token_hex(4)

    def of(self, headers: Mapping[bytes, bytes]) -> str:
        """The id of a request with these headers; counting is cheaper than random numbers."""
        given = headers.get(b"x-request-id", b"")
        return given.decode() if ID.fullmatch(given) else f"{self._process}-{next(self._numbers)}"


class RequestLog:
    """Wraps an app; a body of more than `most_bytes` is refused."""

    def __init__(self, app: ASGIApp, metrics: Metrics, most_bytes: int) -> None:
        self._app, self._metrics, self._most = app, metrics, most_bytes
        self._paths: dict[Any, str] = {}
        self._ids = RequestIds()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        scope["by_name"], scope["request_id"] = headers, self._ids.of(headers)
        started, status = time.perf_counter(), 500

        async def traced(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"].append((b"x-request-id", scope["request_id"].encode()))
            await send(message)

        try:
            limited = await self._limited(headers, receive)
            if limited is None:
                error = TooLargeError(f"the body is larger than {self._most} bytes")
                await error_response(error, scope["request_id"])(scope, receive, traced)
            else:
                await self._app(scope, limited, traced)
        except ClientDisconnect:  # before its request was complete; no one waits for an answer
            status = GONE
        finally:
            self._note(scope, status, time.perf_counter() - started)

    async def _limited(self, headers: dict[bytes, bytes], receive: Receive) -> Receive | None:
        """A `receive` for the body, None if it is too large; a body of unknown length is read."""
        if b"transfer-encoding" not in headers:  # with it, a content-length does not count
            length = headers.get(b"content-length", b"0")
            return receive if length.isdigit() and int(length) <= self._most else None
        messages: deque[Message] = deque()
        total, more = 0, True
        while more:
            message = await receive()
            messages.append(message)
            total += len(message.get("body", b""))
            more = bool(message.get("more_body", False))
            if total > self._most:
                return None

        async def again() -> Message:
            return messages.popleft() if messages else await receive()

        return again

    def _route(self, scope: Scope) -> str:
        """The path of the route as it was declared, so that the metrics have few labels."""
        if "route_path" in scope:
            return str(scope["route_path"])
        if scope.get("route") is not None:
            return str(scope["route"].path)
        endpoint = scope.get("endpoint")
        if endpoint not in self._paths:
            routes = scope["app"].routes if endpoint is not None else ()
            found = (each.path for each in routes if getattr(each, "endpoint", 0) is endpoint)
            self._paths[endpoint] = next(found, "unknown")
        return self._paths[endpoint]

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route, key = self._route(scope), getattr(scope.get("principal"), "name", None)
        self._metrics.answered(route, status, seconds)
        note(scope["request_id"], scope["method"], route, status, seconds, key)


def note(
    request: str, method: str, route: str, status: int, seconds: float, key: str | None
) -> None:
    """Write the line of the log about a request that was answered."""
    level = logging.ERROR if status >= 500 else logging.INFO
    if status < 400 and (method == "GET" or route.endswith(FREQUENT)):
        level = logging.DEBUG
    if log.isEnabledFor(level):
        found = {
            "request": request,
            "method": method,
            "route": route,
            "status": status,
            "ms": round(1000.0 * seconds, 2),
            "key": key,
        }
        log.log(level, "request", extra={"structured": found})
