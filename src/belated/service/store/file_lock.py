"""The lock by which one process owns a SQLite file: an operating-system lock on a file beside it.

The lock ends with the process that holds it, even if that is killed. The process id in the lock
file serves error messages only.
"""

import os
from pathlib import Path
from typing import IO

from belated.service.store.errors import StoreInUse


class FileLock:
    """Holds a database file for this process until it is released."""

    def __init__(self, path: Path) -> None:
        import fcntl  # missing on Windows, where PostgreSQL and memory stores still work

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
        """Release the file. The empty lock file stays: removing it would be a race."""
        self._file.truncate(0)
        self._file.close()
