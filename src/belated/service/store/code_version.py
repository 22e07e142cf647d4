"""Which code decides: the numbers of another version may differ from those of this one."""

import json

from sqlalchemy import Connection, delete, insert, select

from belated.service.store.records import Position
from belated.service.store.schema import FACTS
from belated.service.store.transactions import Transactions

NAME = "deciding_code"


class DecidingCode:
    """The version whose decisions are at the end of the journal, and where they begin."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def since(self, version: str) -> Position | None:
        """After which position all decisions are of this version; None if another one decides."""

        def read(connection: Connection) -> str | None:
            return connection.scalar(select(FACTS.c.value).where(FACTS.c.name == NAME))

        found = self._transactions.read(read)
        deciding, position = json.loads(found) if found else (None, None)
        return position if deciding == version else None

    def takes_over(self, version: str, position: Position) -> None:
        """From this position on another version decides."""

        def replace(connection: Connection) -> None:
            connection.execute(delete(FACTS).where(FACTS.c.name == NAME))
            connection.execute(
                insert(FACTS).values(name=NAME, value=json.dumps([version, position]))
            )

        self._transactions.write(replace)
