"""The short way of single asks and tells, from a connection past the framework.

These two routes are nearly all requests of a busy service, and what a framework does for each (a
task, a scope, layers, a response as messages) costs several times their own work. On the short way
a connection hands over the headers and the body, and gets the answer as bytes. All rules are those
of the ordinary way, by the same functions. A request that is unusual in any respect (chunks, a
large body, an address from a proxy, a path in other letters) takes the ordinary way.
"""

import functools
import logging
import re
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from fastapi import FastAPI

from belated.service.core.errors import RequestError
from belated.service.core.requests import Tell
from belated.service.core.texts import PROBLEM_NAME, TICKET
from belated.service.web.auth import Principal
from belated.service.web.auth_middleware import admitted
from belated.service.web.bridge import Bridge
from belated.service.web.decisions import became, report_on, shown, single_ask
from belated.service.web.error_responses import error_response, fault_response
from belated.service.web.json_response import ENCODER
from belated.service.web.models import ReportBody
from belated.service.web.request_bodies import validated
from belated.service.web.request_log import RequestIds, note

log = logging.getLogger(__name__)

Headers = list[tuple[bytes, bytes]]

MOST_BYTES = 4096  # in a body
ASK, TELL = "/v1/problems/{name}/ask", "/v1/tickets/{ticket}/tell"
assert PROBLEM_NAME.form is not None
assert TICKET.form is not None
PATH = re.compile(
    f"/v1/(?:problems/({PROBLEM_NAME.form.pattern})/ask|tickets/({TICKET.form.pattern})/tell)"
)
UNUSUAL = frozenset(  # headers with which a request takes the ordinary way
    (b"transfer-encoding", b"expect", b"upgrade", b"x-forwarded-for", b"x-forwarded-proto")
)


class Connection(Protocol):
    """What an answer is given to."""

    def respond(self, status: int, headers: Headers, body: bytes) -> None:
        """Send an answer."""


class DirectRequest(NamedTuple):
    """A request that may take the short way; `problem` is asked, or else `ticket` is told."""

    path: str
    problem: str | None
    ticket: str | None
    headers: Mapping[bytes, bytes]


def direct_request(url: bytes, headers: Headers) -> DirectRequest | None:
    """The request for a URL if it may take the short way, None if not."""
    found = PATH.fullmatch(path) if (path := url.decode("latin-1")) else None
    if found is None:
        return None
    by_name = dict(headers)
    length = by_name.get(b"content-length", b"0")
    if not length.isdigit() or int(length) > MOST_BYTES or not UNUSUAL.isdisjoint(by_name):
        return None
    return DirectRequest(path, found[1], found[2], by_name)


class DirectRequests:
    """Carries out asks and tells of an app that has started."""

    def __init__(self, app: FastAPI) -> None:
        self._app, self._ids = app, RequestIds()

    def carry_out(
        self, request: DirectRequest, body: bytes, host: str, connection: Connection
    ) -> None:
        """Begin a request; the connection gets the answer later, or at once if it is refused."""
        bridge: Bridge = self._app.state.bridge
        answer = DirectAnswer(request, self._ids.of(request.headers), bridge, connection)
        try:
            caller = admitted(bridge, request.path, request.headers, host)
            assert caller is not None
            answer.caller = caller
            if request.problem is not None:
                caller.needs("ask", request.problem)
                ask = single_ask(request.problem, request.headers, body)
                bridge.send(ask, answer.decided)
            else:
                assert request.ticket is not None
                report = report_on(request.ticket, validated(body, ReportBody))
                bridge.send(Tell([report], functools.partial(caller.may, "tell")), answer.told)
        except Exception as error:
            answer.failed(error)


class DirectAnswer:
    """The answer to a request, which is counted and logged like all others."""

    def __init__(
        self, request: DirectRequest, id: str, bridge: Bridge, connection: Connection
    ) -> None:
        self._request, self._id, self._bridge = request, id, bridge
        self._connection, self._started = connection, time.perf_counter()
        self.caller: Principal | None = None

    def decided(self, made: Any) -> None:
        """Answer an ask with its decision, or with an error."""
        try:
            if isinstance(made, Exception):
                raise made
            self._bridge.metrics.decisions.inc()
            self._show(shown(made[0]))
        except Exception as error:
            self.failed(error)

    def told(self, results: Any) -> None:
        """Answer a tell with the result of its one report, or with an error."""
        try:
            if isinstance(results, Exception):
                raise results
            self._bridge.metrics.reported(became(results[0]))
            if isinstance(results[0], RequestError):
                raise results[0]
            self._show(results[0]._asdict())
        except Exception as error:
            self.failed(error)

    def failed(self, error: Exception) -> None:
        """Answer with an error, which is a fault if it is not a refusal."""
        if isinstance(error, RequestError):
            response = error_response(error, self._id, self._request.path)
        else:
            log.exception("a request failed", exc_info=error)
            response = fault_response(self._id)
        self._send(response.status_code, response.raw_headers, bytes(response.body))

    def _show(self, content: dict[str, Any]) -> None:
        body = ENCODER.encode(content).encode()
        length = (b"content-length", b"%d" % len(body))
        self._send(200, [length, (b"content-type", b"application/json")], body)

    def _send(self, status: int, headers: Headers, body: bytes) -> None:
        identified = [*headers, (b"x-request-id", self._id.encode())]
        self._connection.respond(status, identified, body)
        route, seconds = self._route(), time.perf_counter() - self._started
        self._bridge.metrics.answered(route, status, seconds)
        if status != 200 or log.isEnabledFor(logging.DEBUG):
            key = None if self.caller is None else self.caller.name
            note(self._id, "POST", route, status, seconds, key)

    def _route(self) -> str:
        return TELL if self._request.problem is None else ASK
