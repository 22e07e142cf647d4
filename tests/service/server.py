"""The service as users run it: `belated serve` in a process of its own, on a port of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

READY = re.compile(r"Serving on (http://\S+) ")
SECONDS = 600  # by then whatever hangs is ended
# Nothing is compiled, so that it starts at once; unless it is to be as users have it.
PLAIN = {} if os.environ.get("BELATED_COMPILED") else {"BELATED_COMPILE": "never"}


class Server:
    """A running service; what it writes to standard error is kept."""

    def __init__(self, database: str, *options: str) -> None:
        command = [sys.executable, "-m", "belated", "serve", "--db", database, "--port", "0"]
        self.process = subprocess.Popen(
            [*command, *options],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **PLAIN},
        )
        self.lines: list[str] = []
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def address(self) -> str:
        """Where it listens, once it does."""
        assert self._ready.wait(SECONDS), self.log
        found = READY.search(self.log)
        assert found is not None, self.log
        return found[1]

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                self.lines.append(line)
                if READY.search(line):
                    self._ready.set()
        self._ready.set()

    @property
    def log(self) -> str:
        """All that it has written."""
        return "".join(self.lines)

    def entry(self, request: str) -> dict[str, Any]:
        """The line of the log about a request, which may come a little after the answer."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            for line in list(self.lines):
                if line.startswith("{") and f'"{request}"' in line:
                    return dict(json.loads(line))
            time.sleep(0.01)
        raise AssertionError(f"no line about {request}")

    def client(self, key: str | None = None, **options: object) -> httpx.Client:
        """A client of it."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(base_url=self.address, headers=headers, timeout=SECONDS, **options)  # type: ignore[arg-type]

    def stop(self) -> int:
        """Stop it as a user would; returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def kill(self) -> None:
        """End it without warning."""
        self.process.kill()
        self._ended()

    def _ended(self) -> int:
        code = self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        return code


@contextmanager
def serving(database: str, *options: str) -> Iterator[Server]:
    """A service for everybody on this machine, stopped in the end."""
    server = Server(database, *(options or ("--no-auth",)))
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()
