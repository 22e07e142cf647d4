"""API keys: made, shown and found by the first letters of their hash."""

from collections.abc import Sequence
from typing import Any

from belated.service.store import Key, Store
from belated.service.web.auth import SHOWN, hash_of, new_key


def make_key(store: Store, label: str, scopes: Sequence[str], at: float) -> dict[str, Any]:
    """A new key of which the store keeps only the hash."""
    key = new_key()
    store.keys.add(hash_of(key), scopes, label, at)
    return {"key": key, **key_view(named_key(store, hash_of(key)))}


def named_key(store: Store, id: str) -> Key:
    """The key whose hash begins so."""
    found = [key for key in store.keys.all() if key.hash.startswith(id) and len(id) >= SHOWN]
    if len(found) != 1:
        raise ValueError(f"there is no key {id!r}")
    return found[0]


def revoke_key(store: Store, id: str, at: float) -> Key:
    """End a key; it stays in the list."""
    store.keys.revoke(named_key(store, id).hash, at)
    return named_key(store, id)


def key_view(key: Key) -> dict[str, Any]:
    """A key as it is shown: never itself."""
    return {
        "id": key.hash[:SHOWN],
        "label": key.label,
        "scopes": list(key.scopes),
        "created": key.at,
        "revoked": key.revoked_at,
    }
