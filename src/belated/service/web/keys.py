"""The routes of API keys, for whoever administers everything."""

import time
from typing import Any

from fastapi import APIRouter

from belated.service.admin.keys import key_view, make_key, revoke_key
from belated.service.core.errors import Invalid, Unknown
from belated.service.web.auth import checked_scopes
from belated.service.web.dependencies import TheFront, Whoever
from belated.service.web.error_responses import BY_NAME
from belated.service.web.models import KeyList, KeyView, MadeKey, NewKey

router = APIRouter(prefix="/v1/keys", tags=["keys"])


@router.post("", status_code=201, response_model=MadeKey, responses=BY_NAME)
async def create(body: NewKey, front: TheFront, who: Whoever) -> Any:
    """A new key; it is shown this once."""
    who.needs_all()
    try:
        scopes = checked_scopes(body.scopes)
    except ValueError as error:
        raise Invalid(str(error)) from None
    made = await front.read(lambda store: make_key(store, body.label, scopes, time.time()))
    await front.renew_keys()
    return made


@router.get("", response_model=KeyList, responses=BY_NAME)
async def list_keys(front: TheFront, who: Whoever) -> Any:
    """All keys, revoked ones too."""
    who.needs_all()
    return {"keys": [key_view(key) for key in await front.read(lambda store: store.keys.all())]}


@router.delete("/{id}", response_model=KeyView, responses=BY_NAME)
async def revoke(id: str, front: TheFront, who: Whoever) -> Any:
    """End a key."""
    who.needs_all()
    try:
        key = await front.read(lambda store: revoke_key(store, id, time.time()))
    except ValueError as error:
        raise Unknown(str(error)) from None
    await front.renew_keys()
    return key_view(key)
