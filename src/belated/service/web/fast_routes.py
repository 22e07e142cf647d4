"""The routes that are asked very often, answered without the framework's way to a route.

That way (a list of routes to try, layers for errors and files, a request made ready for whatever
an endpoint may want) costs several times what these endpoints do. Nothing of what it gives is
lost: who asks was found out before, refusals are answered here, and faults go on to those outside.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from fastapi import Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from belated.service.core.errors import Refusal
from belated.service.web.error_responses import answer_of

Endpoint = Callable[[Request], Awaitable[Response]]


class Shortcut(NamedTuple):
    """A route whose endpoint reads its request by hand; its path as it was declared."""

    path: str
    form: re.Pattern[str]
    endpoint: Endpoint


class Direct:
    """Wraps an app; POSTs to routes that read their bodies by hand go to these at once."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._by_ending = {each.path.rpartition("/")[2]: each for each in shortcuts(routes)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or scope.get("root_path"):
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        shortcut = self._by_ending.get(path[path.rfind("/") + 1 :])
        match = shortcut.form.fullmatch(path) if shortcut else None
        if shortcut is None or match is None:
            await self._app(scope, receive, send)
            return
        scope["path_params"], scope["route_path"] = match.groupdict(), shortcut.path
        try:
            response = await shortcut.endpoint(Request(scope, receive))
        except Refusal as refusal:
            response = answer_of(refusal, scope.get("request_id"))
        await response(scope, receive, send)


def shortcuts(routes: Sequence[BaseRoute]) -> list[Shortcut]:
    """Of routes that tell the document by hand what they take; no two paths end alike."""
    found: list[Shortcut] = []
    for route in routes:
        if isinstance(route, APIRoute) and route.openapi_extra is not None:
            endpoint: Any = route.endpoint
            found.append(Shortcut(route.path, route.path_regex, endpoint))
    return found
