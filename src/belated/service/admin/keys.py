"""API keys: made, checked, shown and revoked. A key is known by the first letters of its hash."""

import hashlib
import secrets
from collections.abc import Sequence
from typing import Any

from belated.service.core.texts import LABEL, PROBLEM_NAME, shown
from belated.service.store import ApiKey, Store

VERBS = ("ask", "tell", "admin")  # what a scope can allow
PREFIX = "belated_"
ID_LETTERS = 12  # letters of its hash that are a key's id


def new_key() -> str:
    """A new key with 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def hash_of(key: str) -> str:
    """The hash under which a key is stored; a plain one is enough for 256 random bits."""
    return hashlib.sha256(key.encode()).hexdigest()


def checked_scopes(scopes: Sequence[str]) -> list[str]:
    """Scopes such as ask:ads, tell:* and admin:*, sorted; ValueError if one is not valid."""
    for scope in scopes:
        verb, _, problem = scope.partition(":")
        if verb not in VERBS or not (problem == "*" or PROBLEM_NAME.fits(problem)):
            raise ValueError(
                f"scope is {shown(scope)}; it must read ask:PROBLEM, tell:PROBLEM or "
                "admin:PROBLEM, with * for all problems"
            )
    if not scopes:
        raise ValueError("there are no scopes; a key must allow something")
    return sorted(set(scopes))


def make_key(store: Store, label: str, scopes: Sequence[str], at: float) -> dict[str, Any]:
    """Make a key, of which the store keeps only the hash; returns the key and its details.

    ValueError if the label is not printable.
    """
    LABEL.checked(label)
    key = new_key()
    store.keys.add(hash_of(key), scopes, label, at)
    return {"key": key, **key_details(named_key(store, hash_of(key)))}


def named_key(store: Store, id: str) -> ApiKey:
    """The stored key with this id; ValueError if there is none."""
    found = [key for key in store.keys.all() if key.hash.startswith(id) and len(id) >= ID_LETTERS]
    if len(found) != 1:
        raise ValueError(f"there is no key {shown(id)}")
    return found[0]


def revoke_key(store: Store, id: str, at: float, forget: bool = False) -> ApiKey:
    """Revoke a key; it stays in the list, without its label if that is to be forgotten."""
    hash = named_key(store, id).hash
    store.keys.revoke(hash, at)
    if forget:
        store.keys.blank_label(hash)
    return named_key(store, id)


def key_details(key: ApiKey) -> dict[str, Any]:
    """All that is shown of a stored key: never the key itself."""
    return {
        "id": key.hash[:ID_LETTERS],
        "label": key.label,
        "scopes": list(key.scopes),
        "created": key.at,
        "revoked": key.revoked_at,
    }
