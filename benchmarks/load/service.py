"""A service in processes of its own, and what it uses of the machine."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from benchmarks.machine import THREADS

ADDRESS = re.compile(r"Serving on (http://\S+) ")
PATIENCE = 120.0  # seconds
CONCEALED: Mapping[str, Any] = {"learner": "concealed", "options": {"max_missing": 50}}
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"  # an installed service need not compile its sources
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Service:
    """`belated serve` on a free port of this machine, without keys; `begun` is its start.

    `python` is the interpreter of the environment that it is installed in: another version of it
    may be measured beside this one.
    """

    def __init__(
        self,
        database: str,
        *options: str,
        python: str = sys.executable,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        kept = {key: os.environ[key] for key in os.environ.keys() - {*THREADS, NO_BYTECODE}}
        fixed = ["--db", database, "--port", "0", "--no-auth", "--log-level", "error"]
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(
            [python, "-m", "belated", "serve", *fixed, *options],
            stderr=subprocess.PIPE,
            text=True,
            env={**kept, **(environment or {})},
        )
        self.address = self._read_address()
        self.http = httpx.Client(base_url=self.address, timeout=PATIENCE)

    def _read_address(self) -> str:
        lines = self.process.stderr
        assert lines is not None
        for line in lines:
            if found := ADDRESS.search(line):
                # What it writes later is read, so that it never waits.
                self._reader = threading.Thread(target=lines.read, daemon=True)
                self._reader.start()
                return found[1]
        raise RuntimeError("the service did not start")

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> float:
        """Stop it as a user would; returns the seconds that this took."""
        self.http.close()
        begun = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        taken = time.perf_counter() - begun
        self._reader.join(PATIENCE)
        if self.process.stderr is not None:
            self.process.stderr.close()
        return taken

    def create(self, name: str, arms: int = 10, learner: Mapping[str, Any] = CONCEALED) -> None:
        """Create a problem; its learner is named, since versions have different defaults."""
        body = {"name": name, "arms": [f"arm {k}" for k in range(arms)], **learner}
        self.http.post("/v1/problems", json=body).raise_for_status()

    def wait_until_compiled(self) -> None:
        """Wait until nothing is interpreted any more."""
        until = time.perf_counter() + PATIENCE
        while time.perf_counter() < until:
            if not self.http.get("/readyz").json().get("interpreted"):
                return
            time.sleep(0.05)

    def cpu_seconds(self) -> float:
        """The processor time of all its processes so far; 0 where the system does not tell."""
        return sum(cpu_seconds_of(pid) for pid in family_of(self.process.pid))

    def loop_seconds(self) -> float:
        """The part of the first thread of each process, which speaks with the clients."""
        return sum(cpu_seconds_of(f"{pid}/task/{pid}") for pid in family_of(self.process.pid))

    def memory(self) -> int:
        """The bytes of memory of all its processes, as far as they are their own."""
        return sum(memory_of(pid) for pid in family_of(self.process.pid))


def family_of(pid: int) -> Iterator[int]:
    """A process and all its descendants; some may end meanwhile."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):
            for child in (task / "children").read_text().split():
                yield from family_of(int(child))


def cpu_seconds_of(pid: int | str) -> float:
    """The processor time of a process so far, or of a thread if its place is given."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_of(pid: int) -> int:
    """The bytes of memory that are a process's own."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"RssAnon:\s+(\d+) kB", status)
    return 1024 * int(found[1]) if found else 0
