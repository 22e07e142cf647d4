"""Measure 20: a service with an empty cache answers at once, and stays quick while it compiles."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from benchmarks.machine import THREADS
from benchmarks.measure import SECONDS, Effort, Result, at_most
from benchmarks.timing import Spread

PROBLEMS: dict[str, dict[str, Any]] = {
    "shop": {"learner": "practical-bandit"},
    "ads": {"learner": "concealed", "options": {"max_missing": 50}},
    "weather": {"kind": "experts"},
}
ARMS = [f"arm {k}" for k in range(10)]
PATIENCE = 120.0  # seconds
ADDRESS = re.compile(r"Serving on (http://\S+) ")


def cold_service(effort: Effort) -> Iterator[Result]:
    """Measure 20: the time to readiness and a first ask, and the slowest ask while compiling."""
    ready, slowest = [], []
    for _ in range(effort.choose(5, 1)):
        with tempfile.TemporaryDirectory() as folder:
            prepared(Path(folder))
            first, longest = served_cold(Path(folder), effort.choose("background", "never"))
            ready.append(first)
            slowest.append(longest)
    yield Result("ready and first ask", Spread.of(ready), SECONDS, None, at_most(4.0))
    yield Result("slowest ask meanwhile", Spread.of(slowest), SECONDS, None, at_most(0.5))


class Service:
    """A service of its own process, on a free port of this machine."""

    def __init__(self, folder: Path, compile_mode: str, database: str | None = None) -> None:
        kept = {key: value for key, value in os.environ.items() if key not in THREADS}
        cache = {"BELATED_CACHE_DIR": str(folder / "cache"), "BELATED_COMPILE": compile_mode}
        where = ["--db", database or str(folder / "belated.db"), "--port", "0", "--no-auth"]
        quiet = ["--log-level", "error"]  # nobody reads what it writes after its address
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "belated", "serve", *where, *quiet],
            stderr=subprocess.PIPE,
            text=True,
            env=kept | cache,
        )
        assert self.process.stderr is not None
        found = None
        while found is None:
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError("the service did not start")
            found = ADDRESS.search(line)
        self.http = httpx.Client(base_url=found[1], timeout=60.0)

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()
        self.process.terminate()
        self.process.communicate()

    def ask(self, problem: str) -> float:
        """Ask for a decision; returns the seconds that it took."""
        begun = time.perf_counter()
        self.http.post(f"/v1/problems/{problem}/ask").raise_for_status()
        return time.perf_counter() - begun


def prepared(folder: Path) -> None:
    """Create the problems, without compiling anything."""
    with Service(folder, "never") as service:
        for name, spec in PROBLEMS.items():
            body = {"name": name, "arms": ARMS, **spec}
            service.http.post("/v1/problems", json=body).raise_for_status()


def served_cold(folder: Path, compile_mode: str) -> tuple[float, float]:
    """Serve with an empty cache: seconds to the first answer, and the slowest ask after that."""
    with Service(folder, compile_mode) as service:
        while service.http.get("/readyz").status_code != 200:
            time.sleep(0.01)
        service.ask("shop")
        first, end = time.perf_counter() - service.begun, time.perf_counter() + PATIENCE
        slowest = 0.0
        while time.perf_counter() < end and service.http.get("/readyz").json()["interpreted"]:
            slowest = max(slowest, *(service.ask(name) for name in PROBLEMS))
            time.sleep(0.01)
        return first, slowest
