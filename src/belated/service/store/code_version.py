"""Which version of the code makes the decisions.

Two versions may differ in the last digits of a probability, so `verify` compares the probabilities
in the journal only with those that this version wrote.
"""

import json

from sqlalchemy import Connection, delete, insert, select

from belated.service.store.records import Position
from belated.service.store.schema import FACTS
from belated.service.store.transactions import Transactions

NAME = "deciding_code"


class DecidingCode:
    """The version that wrote the latest decisions, and the position at which it began."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def since(self, version: str) -> Position | None:
        """The position after which this version wrote all decisions; None if another is newer."""

        def read(connection: Connection) -> str | None:
            return connection.scalar(select(FACTS.c.value).where(FACTS.c.name == NAME))

        found = self._transactions.read(read)
        deciding, position = json.loads(found) if found else (None, None)
        return position if deciding == version else None

    def takes_over(self, version: str, position: Position) -> None:
        """Note that another version makes all decisions after this position."""

        def replace(connection: Connection) -> None:
            connection.execute(delete(FACTS).where(FACTS.c.name == NAME))
            connection.execute(
                insert(FACTS).values(name=NAME, value=json.dumps([version, position]))
            )

        self._transactions.write(replace)
