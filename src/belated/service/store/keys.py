"""The table of API keys: their hashes and scopes. The keys themselves are never stored."""

import json
from collections.abc import Sequence

from sqlalchemy import Connection, insert, select, update

from belated.service.store.checks import check_text
from belated.service.store.queries import is_number, is_text
from belated.service.store.records import ApiKey
from belated.service.store.schema import API_KEYS
from belated.service.store.transactions import Transactions


class ApiKeys:
    """The API keys of a store."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def add(self, hash: str, scopes: Sequence[str], label: str, at: float) -> None:
        """Store the hash of a new key; ValueError for a label or scope that cannot be stored."""
        check_text("a key", hash, label, *scopes)
        row = {"hash": hash, "scopes": json.dumps(list(scopes)), "label": label, "at": at}
        self._transactions.write(lambda connection: connection.execute(insert(API_KEYS), row))

    def all(self) -> list[ApiKey]:
        """All keys that can be read, oldest first, including revoked ones."""

        def found(connection: Connection) -> list[ApiKey]:
            rows = connection.execute(select(API_KEYS).order_by(API_KEYS.c.at, API_KEYS.c.hash))
            return [
                ApiKey(row.hash, row.label, scopes_in(row.scopes), row.at, row.revoked_at)
                for row in rows
                if is_text(row.hash) and is_text(row.label) and is_number(row.at)
            ]

        return self._transactions.read(found)

    def blank_label(self, hash: str) -> None:
        """Forget what a key was for."""
        blanked = update(API_KEYS).where(API_KEYS.c.hash == hash).values(label="")
        self._transactions.write(lambda connection: connection.execute(blanked))

    def revoke(self, hash: str, at: float) -> bool:
        """Revoke a key; False if there is none, or if it was revoked before."""
        valid = (API_KEYS.c.hash == hash) & API_KEYS.c.revoked_at.is_(None)
        ended = update(API_KEYS).where(valid).values(revoked_at=at)
        return self._transactions.write(lambda connection: connection.execute(ended).rowcount > 0)


def scopes_in(text: str) -> tuple[str, ...]:
    """The scopes in a row; none if they cannot be read, so that the key opens nothing."""
    try:
        found = json.loads(text)
    except (ValueError, TypeError):
        return ()
    return tuple(each for each in found if is_text(each)) if isinstance(found, list) else ()
