"""Opening a store by its address."""

from pathlib import Path
from typing import get_args

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from belated.service.store.sqlite import SqliteStore
from belated.service.store.sqlite_file import Durability
from belated.service.store.store import Store

MEMORY = "memory:"


def open_store(address: str | Path, durability: Durability = "full") -> Store:
    """The store at an address, created or brought to the newest version if need be.

    An address is a file's path or `sqlite:///path`, or `postgresql://...`, or `memory:`.
    `durability="full"` keeps what was acknowledged even when the power fails. "normal" and "off"
    may then lose the last of it; they still keep it when only the process is killed.
    """
    if durability not in get_args(Durability):
        raise ValueError(
            f"durability is {durability!r}; it must be one of {', '.join(get_args(Durability))}"
        )
    text = str(address)
    if text == MEMORY:
        return SqliteStore(None, durability)
    if "://" not in text:
        return SqliteStore(Path(text), durability)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise ValueError("the address of the store cannot be read as a URL") from None
    kind = url.get_backend_name()
    if kind == "sqlite" and url.database:
        return SqliteStore(Path(url.database), durability)
    if kind in ("postgresql", "postgres"):
        from belated.service.store.postgres import PostgresStore  # needs its driver

        return PostgresStore(url, durability)
    raise ValueError(
        f"a store cannot be at {kind}://; it must be a file, sqlite:///path or postgresql://..."
    )
