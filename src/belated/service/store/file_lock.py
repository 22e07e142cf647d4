"""The lock by which one process owns a SQLite file: operating-system locks on it and beside it.

The locks end with the process that holds them, even if that is killed. The process id in the lock
file serves error messages only, and anyone who deletes that file still meets the lock on the
database itself. That one is of the kind that SQLite does not use (`flock`). But closing the file
would also release SQLite's own locks in this process; so the file is closed after SQLite, and a
file that this process has locked before is not even opened.
"""

import os
from pathlib import Path

from belated.service.store.errors import StoreInUse

OURS = 0o600  # no one else needs to read the files

_held: set[tuple[int, int]] = set()  # device and inode of the databases that this process has


class FileLock:
    """Holds a database file for this process until it is released; creates it if necessary."""

    def __init__(self, path: Path) -> None:
        self._name = path.name
        self._files: list[int] = []
        try:
            self._lock_file = self._locked(path.with_name(path.name + ".lock"))
            if path.exists() and inode_of(path.stat()) in _held:
                raise self._in_use()
            self._inode = inode_of(os.fstat(self._locked(path)))
        except BaseException:
            self._close()
            raise
        _held.add(self._inode)
        os.ftruncate(self._lock_file, 0)
        os.pwrite(self._lock_file, str(os.getpid()).encode(), 0)

    def _locked(self, path: Path) -> int:
        """Open a file and lock it."""
        import fcntl  # missing on Windows, where PostgreSQL and memory stores still work

        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, OURS)
        except OSError as error:
            raise ValueError(f"{path} cannot be opened: {error.strerror}") from None
        self._files.append(file)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._in_use() from None
        return file

    def _in_use(self) -> StoreInUse:
        holder = os.pread(self._files[0], 100, 0).decode(errors="replace").strip() or "unknown"
        return StoreInUse(
            f"{self._name} is in use by process {holder}; one process at a time owns a SQLite "
            "store: stop that one, or use PostgreSQL for several"
        )

    def _close(self) -> None:
        while self._files:
            os.close(self._files.pop())

    def release(self) -> None:
        """Release the file. The empty lock file stays: removing it would be a race."""
        os.ftruncate(self._lock_file, 0)
        _held.discard(self._inode)
        self._close()


def inode_of(found: os.stat_result) -> tuple[int, int]:
    """What a file is, whatever it is called."""
    return found.st_dev, found.st_ino
