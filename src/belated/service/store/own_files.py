"""The files of a SQLite store, watched: what is written into a deleted file is lost with it."""

import os
from pathlib import Path

from belated.service.store.errors import StoreUnavailable
from belated.service.store.file_lock import inode_of

KINDS = ("", "-wal", "-shm")  # the database, its write-ahead log, and that log's index


class OwnFiles:
    """The files that SQLite has open, as they were found when the store was opened."""

    def __init__(self, path: Path) -> None:
        named = [path.with_name(path.name + kind) for kind in KINDS]
        self._known = {str(each): inode_of(each.stat()) for each in named if each.exists()}

    def check(self) -> None:
        """Refuse to go on if one of them was deleted or replaced; a commit before is in doubt."""
        for path, inode in self._known.items():
            try:
                if inode_of(os.stat(path)) == inode:
                    continue
            except OSError:
                pass
            raise StoreUnavailable(
                f"{os.path.basename(path)} was deleted or replaced while the service was using it; "
                "put it back, or restart the service with what there is",
                in_doubt=True,
            )
