"""What routes take as arguments: the bridge and the caller, and the names in paths, checked."""

from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from belated.service.core.errors import NotFoundError
from belated.service.core.texts import PROBLEM_NAME, TICKET, shown
from belated.service.web.auth import Principal
from belated.service.web.bridge import Bridge

bearer = HTTPBearer(auto_error=False, description="A key made by `belated keys create`.")


async def bridge_of(request: Request) -> Bridge:
    """The bridge of the app that a request was sent to."""
    bridge: Bridge = request.app.state.bridge
    return bridge


async def caller_of(
    request: Request,
    shown: Annotated[HTTPAuthorizationCredentials | None, Security(bearer)] = None,
) -> Principal:
    """The caller of a request, found by the middleware; `shown` is for the OpenAPI document."""
    principal: Principal = request.scope["principal"]
    return principal


TheBridge = Annotated[Bridge, Depends(bridge_of)]
Caller = Annotated[Principal, Depends(caller_of)]


def known_name(name: str) -> str:
    """The name of a problem; NotFoundError if no problem can have it."""
    if not PROBLEM_NAME.fits(name):
        raise NotFoundError(f"there is no problem {shown(name)}")
    return name


def known_ticket(ticket: str) -> str:
    """The id of a ticket; NotFoundError if no ticket can have it."""
    if not TICKET.fits(ticket):
        raise no_ticket(ticket)
    return ticket


def no_ticket(ticket: str) -> NotFoundError:
    """The error that says that a ticket does not exist."""
    return NotFoundError(f"there is no ticket {shown(ticket)}")
