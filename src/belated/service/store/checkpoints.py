"""The table of checkpoints: states that take the place of the journal before them.

A checkpoint is a truth, not a cache. It is guarded by a checksum over all that it says, and a
damaged one is an error: nothing could make it again.
"""

import hashlib
import json
from collections.abc import Sequence

from sqlalchemy import Connection, delete, insert, select

from belated.service.store.queries import REACHED, RETENTION
from belated.service.store.records import Checkpoint, CheckpointSums, Position, Retention
from belated.service.store.schema import CHECKPOINTS, FACTS
from belated.service.store.transactions import Transactions


class BehindCheckpoint(Exception):
    """A reader stands before the checkpoints; what lies between may be deleted already."""


class Checkpoints:
    """The checkpoints of a store, one for each problem."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def reached(self) -> Retention:
        """How far the journal was folded into checkpoints."""
        return self._transactions.read(reached)

    def positions(self) -> dict[str, Position]:
        """The positions of the checkpoints of all problems that have one."""
        return self._transactions.read(positions)

    def of(self, problem: str) -> Checkpoint | None:
        """The checkpoint of a problem, if it has one; ValueError if that is damaged."""
        return self._transactions.read(lambda connection: checkpoint_of(connection, problem))


def reached(connection: Connection) -> Retention:
    """How far the journal was folded into checkpoints."""
    return retention_in(connection.scalar(select(REACHED)))


def positions(connection: Connection) -> dict[str, Position]:
    """The positions of the checkpoints of all problems that have one."""
    found = connection.execute(select(CHECKPOINTS.c.problem, CHECKPOINTS.c.position))
    return {row.problem: row.position for row in found}


def retention_in(fact: str | None) -> Retention:
    """The retention that a fact tells of."""
    return Retention(*json.loads(fact)) if fact else Retention()


def check_not_behind(position: Position, fact: str | None) -> None:
    """Refuse what a reader at a position has read, if rows of it may be lacking."""
    if fact and position < retention_in(fact).position:
        raise BehindCheckpoint(f"{position!r} lies before the checkpoints")


def set_reached(connection: Connection, retention: Retention) -> None:
    """Write down how far the journal was folded into checkpoints."""
    connection.execute(delete(FACTS).where(FACTS.c.name == RETENTION))
    connection.execute(insert(FACTS).values(name=RETENTION, value=json.dumps(retention)))


def save(connection: Connection, checkpoints: Sequence[Checkpoint]) -> None:
    """Write checkpoints; each replaces that of its problem."""
    for each in checkpoints:
        connection.execute(delete(CHECKPOINTS).where(CHECKPOINTS.c.problem == each.problem))
        sums = json.dumps(each.sums)
        row = {**each._asdict(), "sums": sums, "checksum": checksum(each, sums)}
        connection.execute(insert(CHECKPOINTS), row)


def checkpoint_of(connection: Connection, problem: str) -> Checkpoint | None:
    """The checkpoint of a problem, if it has one; ValueError if that is damaged."""
    row = connection.execute(select(CHECKPOINTS).where(CHECKPOINTS.c.problem == problem)).first()
    if row is None:
        return None
    found = Checkpoint(
        problem, row.position, row.format, row.code_version, CheckpointSums(), bytes(row.blob)
    )
    if checksum(found, row.sums) != row.checksum:
        raise ValueError("its checkpoint is damaged: the checksum does not match")
    events, tallies = json.loads(row.sums)
    return found._replace(sums=CheckpointSums(events, [tuple(each) for each in tallies]))


def checksum(checkpoint: Checkpoint, sums: str) -> str:
    """The hash of all that a checkpoint says; `sums` is given as it is written."""
    digest = hashlib.sha256()
    for part in (*checkpoint[:4], sums):
        digest.update(str(part).encode() + b"\0")
    digest.update(checkpoint.blob)
    return digest.hexdigest()
