"""A service for a browser to look at, in a process of its own, asked and told over HTTP."""

import json
import os
import re
import select
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple


class Service(NamedTuple):
    """A service that listens on this machine."""

    address: str
    key: str | None

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """What it answers."""
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)

    def play(self, problem: str, rounds: int, untold: int) -> None:
        """Ask so often, and tell all but the last; one of them is told twice."""
        body = {"count": rounds}
        made = self.call("POST", f"/v1/problems/{problem}/ask:batch", body)["decisions"]
        reports = [
            {"ticket": each["ticket"], "loss": 0.25 if each["arm"] == "red" else 0.75}
            for each in made[: rounds - untold]
        ]
        for sent in (reports, reports[-1:]):
            if sent:
                self.call("POST", "/v1/tell:batch", {"reports": sent})


class Process:
    """`belated serve` in a process of its own; uncompiled, so that it is there at once."""

    def __init__(self, database: Path, *options: str) -> None:
        command = [sys.executable, "-m", "belated", "serve", "--db", str(database), "--port", "0"]
        self._process = subprocess.Popen(
            [*command, "--seed", "1", *options],
            stderr=subprocess.PIPE,
            env={**os.environ, "BELATED_COMPILE": "never"},
        )

    def address(self) -> str:
        """Where it listens, once it does."""
        assert self._process.stderr is not None
        read, until = b"", time.monotonic() + 120
        while time.monotonic() < until and self._process.poll() is None:
            if select.select([self._process.stderr], [], [], 1.0)[0]:
                read += os.read(self._process.stderr.fileno(), 4096)
            if found := re.search(rb"Serving on (http://127\.0\.0\.1:\d+)", read):
                return found[1].decode()
        raise AssertionError(f"it does not serve: {read.decode()}")

    def stop(self) -> None:
        """Tell it to end."""
        self._process.terminate()

    def wait(self) -> None:
        """See that it ends."""
        self._process.communicate(timeout=600)
