"""The routes of API keys; they need a key that allows admin of everything.

There are none in a service without keys: a key would outlive that mode.
"""

import time
from typing import Any

from fastapi import APIRouter, Depends, Query

from belated.service.admin.keys import checked_scopes, key_details, make_key, revoke_key
from belated.service.core.errors import ForbiddenError, InvalidRequestError, NotFoundError
from belated.service.web.dependencies import Caller, TheBridge
from belated.service.web.error_responses import BY_NAME
from belated.service.web.models import KeyBody, KeyListBody, MadeKeyBody, NewKeyBody


async def refuse_without_keys(bridge: TheBridge) -> None:
    """Refuse to show or make keys in a service that needs none."""
    if not bridge.guarded:
        raise ForbiddenError(
            "the service runs without keys, so it neither shows nor makes any; use `belated keys` "
            "with the database"
        )


router = APIRouter(prefix="/v1/keys", tags=["keys"], dependencies=[Depends(refuse_without_keys)])


@router.post("", status_code=201, response_model=MadeKeyBody, responses=BY_NAME)
async def create(body: NewKeyBody, bridge: TheBridge, who: Caller) -> Any:
    """Make a key; it is shown this once."""
    who.needs_all()
    try:
        scopes = checked_scopes(body.scopes)
    except ValueError as error:
        raise InvalidRequestError(str(error)) from None
    made = await bridge.read(lambda store: make_key(store, body.label, scopes, time.time()))
    await bridge.renew_keys()
    return made


@router.get("", response_model=KeyListBody, responses=BY_NAME)
async def list_keys(bridge: TheBridge, who: Caller) -> Any:
    """All keys, including revoked ones."""
    who.needs_all()
    return {"keys": [key_details(key) for key in await bridge.read(lambda store: store.keys.all())]}


@router.delete("/{id}", response_model=KeyBody, responses=BY_NAME)
async def revoke(
    id: str,
    bridge: TheBridge,
    who: Caller,
    forget: bool = Query(False, description="Blank its label, too."),
) -> Any:
    """Revoke a key."""
    who.needs_all()
    try:
        key = await bridge.read(lambda store: revoke_key(store, id, time.time(), forget))
    except ValueError as error:
        raise NotFoundError(str(error)) from None
    await bridge.renew_keys()
    return key_details(key)
