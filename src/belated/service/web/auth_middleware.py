"""The middleware that refuses forged requests, and those without a valid key or with a body of
another kind than JSON, before their bodies are read.
"""

from collections.abc import Mapping

from starlette.types import ASGIApp, Receive, Scope, Send

from belated.service.core.errors import RequestError
from belated.service.web.auth import Principal
from belated.service.web.bridge import Bridge
from belated.service.web.error_responses import error_response
from belated.service.web.forgery import check_host, check_media_type, check_own_page

OPEN = ("/", "/healthz", "/readyz", "/openapi.json")  # paths that need no key
OPEN_BELOW = "/dashboard/"  # files that are the same for everybody
SUBSCRIPTION = b"ocp-apim-subscription-key"  # the header in which Personalizer clients send a key


class AuthMiddleware:
    """Wraps an app; puts the caller into the scope as `principal`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                admit(scope)
            except RequestError as error:
                response = error_response(error, scope.get("request_id"), scope["path"])
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)


def is_open(path: str) -> bool:
    """Whether a path needs no key."""
    return path in OPEN or path.startswith(OPEN_BELOW)


def admit(scope: Scope) -> None:
    """Find the caller of a request; an error if the request is not admitted."""
    bridge: Bridge = scope["app"].state.bridge
    host = scope["client"][0] if scope.get("client") else "unknown"
    found = admitted(bridge, scope["path"], scope["by_name"], host)
    if found is not None:
        scope["principal"] = found


def admitted(
    bridge: Bridge, path: str, headers: Mapping[bytes, bytes], host: str
) -> Principal | None:
    """The caller with these headers, None for a path that is open to all; an error if refused."""
    if not bridge.guarded:
        check_host(headers)
    if is_open(path):
        return None
    if not bridge.guarded:
        check_own_page(headers)
    given = headers.get(b"authorization", b"")
    if not given and SUBSCRIPTION in headers:
        given = b"Bearer " + headers[SUBSCRIPTION]
    found = bridge.authenticator.admit(given.decode("latin-1"), host)
    check_media_type(headers)
    return found
