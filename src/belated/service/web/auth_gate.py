"""The gate: no request gets further without a valid key, not even its body is read."""

from starlette.types import ASGIApp, Receive, Scope, Send

from belated.service.core.errors import Refusal
from belated.service.web.bridge import Front
from belated.service.web.error_responses import answer_of

OPEN = ("/", "/healthz", "/openapi.json")
SUBSCRIPTION = b"ocp-apim-subscription-key"  # where clients of Personalizer send their key
OPEN_BELOW = "/dashboard/"  # files that are the same for everybody


class Gate:
    """Wraps an app; leaves in the scope who it is that asks."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not is_open(scope["path"]):
            try:
                admit(scope)
            except Refusal as refusal:
                await answer_of(refusal, scope.get("request_id"))(scope, receive, send)
                return
        await self._app(scope, receive, send)


def is_open(path: str) -> bool:
    """Whether a path is for everybody."""
    return path in OPEN or path.startswith(OPEN_BELOW)


def admit(scope: Scope) -> None:
    """Find out who it is, or refuse."""
    front: Front = scope["app"].state.front
    headers: dict[bytes, bytes] = scope["by_name"]
    given = headers.get(b"authorization", b"")
    if not given and SUBSCRIPTION in headers:
        given = b"Bearer " + headers[SUBSCRIPTION]
    host = scope["client"][0] if scope.get("client") else "unknown"
    scope["principal"] = front.guard.admit(given.decode("latin-1"), host)
