"""One process owns a SQLite file: a lock of the operating system's on a file beside it.

The lock ends with the process that holds it, however that ends; the process id in the file is
only there to be named.
"""

import os
from pathlib import Path
from typing import IO

from belated.service.store.errors import StoreInUse


class Owner:
    """Holds a database file for this process until it is released."""

    def __init__(self, path: Path) -> None:
        import fcntl  # not there on every system, and only needed here

        self.path = path.with_name(path.name + ".lock")
        self._file: IO[str] = self._opened()
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = self._file.read().strip() or "unknown"
            self._file.close()
            raise StoreInUse(
                f"{path.name} is in use by process {holder}; one process at a time owns a SQLite "
                "store: stop that one, or use PostgreSQL for several"
            ) from None
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def _opened(self) -> IO[str]:
        try:
            return os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644), "r+")
        except OSError as error:
            raise ValueError(f"{self.path} cannot be opened: {error.strerror}") from None

    def release(self) -> None:
        """Let others have the file; the empty lock file stays, as removing it would race."""
        self._file.truncate(0)
        self._file.close()
