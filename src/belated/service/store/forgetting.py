"""Blanking the keys of decisions: rows get a new checksum, if the one they had was right."""

from sqlalchemy import ColumnElement, Connection, update

from belated.service.store.checksums import checksum_of
from belated.service.store.queries import IS_DECISION, events, place_of
from belated.service.store.records import Decision
from belated.service.store.schema import JOURNAL

ROWS = JOURNAL.c


def blank_keys(connection: Connection, *rows: ColumnElement[bool]) -> int:
    """Blank the keys of the decisions among these rows; how many had one."""
    found = events(connection, [*rows, IS_DECISION, ROWS.key.is_not(None)], [])
    if found and connection.dialect.name == "sqlite":
        connection.exec_driver_sql("pragma secure_delete = on")  # overwrite what is freed
    for event in found:
        body, checksum = event.body, event.checksum
        if isinstance(body, Decision) and checksum == checksum_of(body):
            checksum = checksum_of(body._replace(key=None))
        turn, seq = place_of(event.position)
        row = update(JOURNAL).where(ROWS.turn == turn, ROWS.seq == seq)
        connection.execute(row.values(key=None, checksum=checksum))
    return len(found)
