"""The table of snapshots: a cache of folded states, each guarded by a checksum."""

import hashlib
import json
import logging
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, select, text

from belated.service.store.queries import place_of
from belated.service.store.records import START, Position, Snapshot
from belated.service.store.schema import FACTS, SNAPSHOTS
from belated.service.store.transactions import Transactions

log = logging.getLogger(__name__)


COMPLETE = "complete_snapshots"  # the fact that says up to where the snapshots are complete

# Two workers may save the very same snapshot; and one that was damaged is mended.
SAVE = text("""
insert into snapshots (problem, position, code_version, checksum, blob)
values (:problem, :position, :code_version, :checksum, :blob)
on conflict (problem, position) do update
set code_version = excluded.code_version, checksum = excluded.checksum, blob = excluded.blob""")

SET_FACT = text("""
insert into facts (name, value) values (:name, :value)
on conflict (name) do update set value = excluded.value""")


class Complete(NamedTuple):
    """A position up to which the newest snapshots, written by one version, have all events.

    A problem without new events needs no new snapshot, so this may be later than the position of
    its newest one. It does not hold for the problems in `but`, which could not be folded.
    """

    code_version: str = ""
    position: Position = START
    but: Sequence[str] = ()


class SnapshotGroup(NamedTuple):
    """Snapshots that are saved together; `keep` of each problem's are kept, the newest.

    `complete` is what holds once this group is saved; None: what held before.
    """

    snapshots: Sequence[Snapshot]
    keep: int = 1_000_000
    complete: "Complete | None" = None


class Snapshots:
    """The snapshots of a store, by problem and position."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def save(self, snapshot: Snapshot) -> None:
        """Store a snapshot; it replaces one of the same problem and position."""
        self.save_all(SnapshotGroup([snapshot]))

    def save_all(self, group: SnapshotGroup) -> None:
        """Store many snapshots in one transaction, and delete what they make superfluous."""
        rows = [each._asdict() | {"checksum": checksum(each)} for each in group.snapshots]
        for each in group.snapshots:
            place_of(each.position)

        def write(connection: Connection) -> None:
            if rows:
                connection.execute(SAVE, rows)
            for each in group.snapshots:
                drop(connection, each.problem, group.keep)
            if group.complete is not None:
                fact = {"name": COMPLETE, "value": json.dumps(group.complete)}
                connection.execute(SET_FACT, fact)

        self._transactions.write(write)

    def latest(self, problem: str) -> Snapshot | None:
        """The newest intact snapshot of a problem; damaged ones are logged and skipped."""
        found = self._transactions.read(lambda connection: intact(connection, problem))
        return found[0] if found else None

    def complete(self) -> Complete:
        """The position up to which the newest snapshots have all events; START if there is none."""

        def read(connection: Connection) -> Complete:
            found = connection.scalar(select(FACTS.c.value).where(FACTS.c.name == COMPLETE))
            return Complete(*json.loads(found)) if found else Complete()

        return self._transactions.read(read)

    def reaching(self, problem: str, complete: Complete) -> Snapshot | None:
        """The newest intact snapshot of a problem, at the latest position that it is good for."""
        found = self._transactions.read(lambda connection: intact(connection, problem))
        if found is None:
            return None
        snapshot, is_newest = found
        known = is_newest and problem not in complete.but
        if known and snapshot.code_version == complete.code_version:
            return snapshot._replace(position=max(snapshot.position, complete.position))
        return snapshot

    def prune(self, problem: str, keep: int) -> int:
        """Delete all but the `keep` newest snapshots of a problem; returns the number deleted."""

        def write(connection: Connection) -> int:
            if keep == 0:  # without its snapshots nothing is complete
                connection.execute(delete(FACTS).where(FACTS.c.name == COMPLETE))
            return drop(connection, problem, keep)

        return self._transactions.write(write)


def intact(connection: Connection, problem: str) -> tuple[Snapshot, bool] | None:
    """The newest snapshot of a problem that is not damaged, and whether it is the newest of all."""
    newest = sorted(positions(connection, problem), reverse=True)
    for position in newest:
        row = connection.execute(select(SNAPSHOTS).where(*at(problem, position))).one()
        snapshot = Snapshot(problem, position, row.code_version, bytes(row.blob))
        if checksum(snapshot) == row.checksum:
            return snapshot, position == newest[0]
        log.warning("the snapshot of %r at %s is damaged; it is ignored", problem, position)
    return None


def drop(connection: Connection, problem: str, keep: int) -> int:
    """Delete all but the `keep` newest snapshots of a problem; returns the number deleted."""
    old = sorted(positions(connection, problem), reverse=True)[keep:]
    for position in old:
        connection.execute(delete(SNAPSHOTS).where(*at(problem, position)))
    return len(old)


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
