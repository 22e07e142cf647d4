"""A commit that changes nothing of what the store is for, to find out whether it can commit."""

import contextlib
import secrets

from sqlalchemy import Connection, insert, update

from belated.service.store.schema import FACTS
from belated.service.store.transactions import Transactions

NAME = "probe"
SIZE = 16_384  # letters, about as much as a batch of requests writes


class Probe:
    """Commits a row of its own."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def commit(self) -> None:
        """Write the row again and commit it; StoreUnavailable if that is not possible."""

        def write(connection: Connection) -> None:
            row = {"value": secrets.token_hex(SIZE // 2)}  # the same again would not be written
            written = connection.execute(update(FACTS).where(FACTS.c.name == NAME).values(row))
            if written.rowcount == 0:
                connection.execute(insert(FACTS).values(name=NAME, **row))

        with contextlib.suppress(ValueError):  # another worker has inserted the row just now
            self._transactions.write(write)
