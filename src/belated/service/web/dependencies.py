"""What every route begins with: the front, and whoever asks."""

from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from belated.service.core.errors import Unknown
from belated.service.core.problems import NAME
from belated.service.core.ticket_ids import TICKET
from belated.service.web.auth import Principal
from belated.service.web.bridge import Front

bearer = HTTPBearer(auto_error=False, description="A key made by `belated keys create`.")


async def front_of(request: Request) -> Front:
    """The front of this app."""
    return front_in(request)


async def admitted(
    request: Request,
    shown: Annotated[HTTPAuthorizationCredentials | None, Security(bearer)],
) -> Principal:
    """Whoever sent the request, as the gate has found out."""
    return principal_of(request)


def front_in(request: Request) -> Front:
    """The front of this app, for routes that do without the framework's help."""
    front: Front = request.app.state.front
    return front


def principal_of(request: Request) -> Principal:
    """Whoever sent the request, for the same routes."""
    principal: Principal = request.scope["principal"]
    return principal


TheFront = Annotated[Front, Depends(front_of)]
Whoever = Annotated[Principal, Depends(admitted)]


def known_name(name: str) -> str:
    """The name of a problem, as far as it can be one."""
    if not NAME.fullmatch(name):
        raise Unknown(f"there is no problem {name!r}")
    return name


def known_ticket(ticket: str) -> str:
    """A ticket, as far as it can be one."""
    if not TICKET.fullmatch(ticket):
        raise Unknown(f"there is no ticket {ticket!r}")
    return ticket
