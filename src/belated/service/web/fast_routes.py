"""The middleware that sends the most frequent requests directly to their endpoints.

The framework's own routing (a list of routes to try, layers for errors and files, a request
prepared for whatever an endpoint may need) costs several times what these endpoints do. Nothing is
lost: the caller was found before, errors are answered here, and faults go on to the outer layers.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from fastapi import Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from belated.service.core.errors import RequestError
from belated.service.web.error_responses import error_response

Endpoint = Callable[[Request], Awaitable[Response]]


class FastRoute(NamedTuple):
    """A route whose endpoint takes only the request; `path` is the path as it was declared."""

    path: str
    form: re.Pattern[str]
    endpoint: Endpoint


class FastRoutes:
    """Wraps an app; POST requests of fast routes go directly to their endpoints."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._by_ending = {each.path.rpartition("/")[2]: each for each in fast_routes(routes)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or scope.get("root_path"):
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        route = self._by_ending.get(path[path.rfind("/") + 1 :])
        match = route.form.fullmatch(path) if route else None
        if route is None or match is None:
            await self._app(scope, receive, send)
            return
        scope["path_params"], scope["route_path"] = match.groupdict(), route.path
        try:
            response = await route.endpoint(Request(scope, receive))
        except RequestError as error:
            response = error_response(error, scope.get("request_id"))
        await response(scope, receive, send)


def fast_routes(routes: Sequence[BaseRoute]) -> list[FastRoute]:
    """The routes that describe requests in `openapi_extra`; no two paths have the same ending."""
    found: list[FastRoute] = []
    for route in routes:
        if isinstance(route, APIRoute) and route.openapi_extra is not None:
            endpoint: Any = route.endpoint
            found.append(FastRoute(route.path, route.path_regex, endpoint))
    return found
