"""The workers of a sweep: processes on this machine, or an executor that the caller has made."""

import importlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any, Protocol, TypeVar

from belated.checks import as_count

Result = TypeVar("Result")

AHEAD_EACH = 4
AHEAD_OF_OTHERS = 1000
CONNECT_SECONDS = 10


class Workers(Protocol):
    """The methods that a sweep calls on its workers.

    At most `ahead` submitted runs are unfinished at any time. `renew` is called after a breakdown,
    and `close` at the end, with the runs to be abandoned.
    """

    @property
    def ahead(self) -> int: ...

    def submit(self, function: Callable[[str], Result], key: str) -> "Future[Result]": ...

    def renew(self) -> None: ...

    def close(self, unfinished: "list[Future[Result]]") -> None: ...


class LocalWorkers:
    """Processes on this machine, one for each core by default, all replaced if one is killed.

    They hold one end of a pipe and exit when the other end closes: when the sweep abandons their
    runs, or when it was killed itself.
    """

    def __init__(self, count: int | None = None) -> None:
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise RuntimeError(
                'a script must sweep below `if __name__ == "__main__":`, as its workers import it'
            )
        cores = os.cpu_count() or 1
        self.count = as_count(cores if count is None else count, "workers", 1)
        methods = multiprocessing.get_all_start_methods()
        self.context = multiprocessing.get_context(
            "forkserver" if "forkserver" in methods else "spawn"
        )
        self._pool: ProcessPoolExecutor | None = None
        self._leash: Connection | None = None

    @property
    def ahead(self) -> int:
        """The number of unfinished runs at which no worker has to wait for its next run."""
        return AHEAD_EACH * self.count

    def submit(self, function: Callable[[str], Result], key: str) -> "Future[Result]":
        """Submit a run."""
        if self._pool is None:
            held, self._leash = self.context.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(self.count, self.context, _prepare, (held,))
        return self._pool.submit(function, key)

    def renew(self) -> None:
        """Start new processes for the next run."""
        self.close([])

    def close(self, unfinished: "list[Future[Result]]") -> None:
        """End the processes, in the middle of a run if any is unfinished."""
        if self._pool is None or self._leash is None:
            return
        if unfinished:
            self._leash.close()
        self._pool.shutdown(wait=True)
        self._leash.close()
        self._pool = self._leash = None


class GivenWorkers:
    """Workers behind an executor that the caller has made and will shut down."""

    ahead = AHEAD_OF_OTHERS

    def __init__(self, executor: Executor) -> None:
        self.executor = executor

    def submit(self, function: Callable[[str], Result], key: str) -> "Future[Result]":
        """Submit a run."""
        return self.executor.submit(function, key)

    def renew(self) -> None:
        """Do nothing: the executor may have recovered by itself."""

    def close(self, unfinished: "list[Future[Result]]") -> None:
        """Cancel the runs that are not finished."""
        for future in unfinished:
            future.cancel()


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Connect to the Dask cluster whose scheduler has this address; yields it as an executor."""
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise ValueError(
            "a Dask cluster needs distributed: pip install 'belated[cluster]'"
        ) from None
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError):
        raise ValueError(f"scheduler is {address!r}; no Dask scheduler answers there") from None
    with client:
        yield client.get_executor(pure=False)


def _prepare(held: Connection) -> None:
    """Prepare a worker process: ignore Ctrl-C, which the sweep handles, and exit with the sweep."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(held,), daemon=True).start()


def _end_with(held: Connection) -> None:
    try:
        held.recv()
    except (EOFError, OSError):
        os._exit(1)
