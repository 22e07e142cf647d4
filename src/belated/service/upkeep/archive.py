"""An archive of rows of the journal: Parquet files in a folder.

A file is whole and on the disk before a row of it is deleted. Until the checkpoints are committed
it has a further ending, PART: who finds such a file later keeps it if they were, and deletes it if
not. So each row is in the archive once, whatever was killed when.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from belated.service.core.errors import UnavailableError
from belated.service.store import Event, NamedOutcome, Note, Outcome, Position, Unreadable
from belated.service.store.records import DECIDED, NAMED
from belated.table_files import check_parquet, write_parquet

PART = ".part"
MOST_ROWS = 100_000  # in one file
TYPES = {
    "position": "string", "problem": "string", "kind": "string", "at": "double",
    "ticket": "string", "arm": "string", "round": "int64", "probability": "double",
    "weights": "string", "state_version": "string", "key": "string", "digest": "string",
    "expires_at": "double", "expires_round": "int64", "loss": "double", "missing": "int64",
    "raw": "double", "payload": "string", "branch": "int64", "cohort": "string",
    "outcome": "string", "revision": "int64", "context": "string", "actions": "string",
    "checksum": "int64",
}  # fmt: skip


class Archive:
    """A folder of Parquet files; `begin`, `add` and `finish` write those of one retention."""

    def __init__(self, folder: Path) -> None:
        check_parquet()
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._rows: list[dict[str, Any]] = []
        self._files: list[Path] = []

    def begin(self, reached: Position) -> None:
        """Put in order what a killed retention has left; the checkpoints are at this position."""
        self.settle(reached)
        for path in self.folder.glob(f"journal-*.parquet{PART}"):
            path.unlink()
        self._rows, self._files = [], []

    def add(self, events: Iterable[Event]) -> None:
        """Add rows of the journal."""
        self._rows += map(row_of, events)
        while len(self._rows) >= MOST_ROWS:
            self._write(MOST_ROWS)

    def finish(self, position: Position) -> None:
        """Name the files by the position of the checkpoints, which are not committed yet.

        UnavailableError if there are files of this name: they are of another database, or of one
        that was restored from a backup, and must not be overwritten.
        """
        if self._rows:
            self._write(len(self._rows))
        for number, path in enumerate(self._files, 1):
            name = f"journal-{position}-{number:04}.parquet"
            if (self.folder / name).exists():
                raise UnavailableError(
                    f"{name} is in the archive already, with rows of another database or of before "
                    "a restored backup; nothing was retained, give another folder"
                )
            path.rename(self.folder / f"{name}{PART}")
        flush(self.folder)

    def settle(self, reached: Position) -> None:
        """Keep the files for good if they belong to the checkpoints at this position."""
        for path in self.folder.glob(f"journal-{reached}-*.parquet{PART}"):
            path.rename(path.with_suffix(""))
        flush(self.folder)

    def _write(self, number: int) -> None:
        rows, self._rows = self._rows[:number], self._rows[number:]
        path = self.folder / f"journal-new-{len(self._files) + 1:04}.parquet{PART}"
        write_parquet({name: [row.get(name) for row in rows] for name in TYPES}, path, TYPES)
        flush(path)
        self._files.append(path)


def row_of(event: Event) -> dict[str, Any]:
    """An event with the columns of the journal; objects are JSON texts."""
    body = event.body
    assert not isinstance(body, Unreadable)
    if isinstance(body, NamedOutcome):
        found = {**body._asdict(), "outcome": body.name, "raw": body.reward, "kind": NAMED}
    else:
        kind = body.kind if isinstance(body, Outcome | Note) else DECIDED
        found = {**body._asdict(), "kind": kind}
    found["problem"] = event.problem
    for name in ("weights", "payload"):
        if found.get(name) is not None:
            found[name] = json.dumps(found[name])
    return {"position": event.position, "checksum": event.checksum, **found}


def flush(path: Path) -> None:
    """Wait until a file, or the list of files of a folder, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
