"""The table of snapshots: a cache of folded states, each guarded by a checksum."""

import hashlib
import logging

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from belated.service.store.queries import place_of
from belated.service.store.records import Position, Snapshot
from belated.service.store.schema import SNAPSHOTS
from belated.service.store.transactions import Transactions

log = logging.getLogger(__name__)


class Snapshots:
    """The snapshots of a store, by problem and position."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def save(self, snapshot: Snapshot) -> None:
        """Store a snapshot; it replaces one of the same problem and position."""
        place_of(snapshot.position)
        row = snapshot._asdict() | {"checksum": checksum(snapshot)}

        def replace(connection: Connection) -> None:
            connection.execute(delete(SNAPSHOTS).where(*at(snapshot.problem, snapshot.position)))
            connection.execute(insert(SNAPSHOTS), row)

        self._transactions.write(replace)

    def latest(self, problem: str) -> Snapshot | None:
        """The newest intact snapshot of a problem; damaged ones are logged and skipped."""

        def newest(connection: Connection) -> Snapshot | None:
            for position in sorted(positions(connection, problem), reverse=True):
                row = connection.execute(select(SNAPSHOTS).where(*at(problem, position))).one()
                snapshot = Snapshot(problem, position, row.code_version, bytes(row.blob))
                if checksum(snapshot) == row.checksum:
                    return snapshot
                log.warning("the snapshot of %r at %s is damaged; it is ignored", problem, position)
            return None

        return self._transactions.read(newest)

    def prune(self, problem: str, keep: int) -> int:
        """Delete all but the `keep` newest snapshots of a problem; returns the number deleted."""

        def drop(connection: Connection) -> int:
            old = sorted(positions(connection, problem), reverse=True)[keep:]
            for position in old:
                connection.execute(delete(SNAPSHOTS).where(*at(problem, position)))
            return len(old)

        return self._transactions.write(drop)


def at(problem: str, position: Position) -> tuple[ColumnElement[bool], ...]:
    """The condition that selects the row of a snapshot."""
    return SNAPSHOTS.c.problem == problem, SNAPSHOTS.c.position == position


def positions(connection: Connection, problem: str) -> list[Position]:
    """The positions of a problem's snapshots."""
    found = select(SNAPSHOTS.c.position).where(SNAPSHOTS.c.problem == problem)
    return list(connection.scalars(found))


def checksum(snapshot: Snapshot) -> str:
    """The hash of all fields, so that a blob cannot pass for another problem's or position's."""
    digest = hashlib.sha256()
    for part in snapshot[:3]:
        digest.update(part.encode() + b"\0")
    digest.update(snapshot.blob)
    return digest.hexdigest()
