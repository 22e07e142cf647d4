"""Measure 20: a service with an empty cache answers at once, and stays quick while it compiles."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.load.service import PATIENCE, Service
from benchmarks.measure import SECONDS, Effort, Result, at_most
from benchmarks.timing import Spread

PROBLEMS: dict[str, dict[str, Any]] = {
    "shop": {"learner": "practical-bandit"},
    "ads": {"learner": "concealed", "options": {"max_missing": 50}},
    "weather": {"kind": "experts"},
}
ARMS = [f"arm {k}" for k in range(10)]


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


def serving(folder: Path, compile_mode: str, database: str | None = None) -> Service:
    """A service with a cache of its own."""
    cache = {"BELATED_CACHE_DIR": str(folder / "cache"), "BELATED_COMPILE": compile_mode}
    return Service(database or str(folder / "belated.db"), environment=cache)


def asked(service: Service, problem: str) -> float:
    """Ask for a decision; returns the seconds that it took."""
    begun = time.perf_counter()
    service.http.post(f"/v1/problems/{problem}/ask").raise_for_status()
    return time.perf_counter() - begun


def prepared(folder: Path) -> None:
    """Create the problems, without compiling anything."""
    with serving(folder, "never") as service:
        for name, spec in PROBLEMS.items():
            body = {"name": name, "arms": ARMS, **spec}
            service.http.post("/v1/problems", json=body).raise_for_status()


def served_cold(folder: Path, compile_mode: str) -> tuple[float, float]:
    """Serve with an empty cache: seconds to the first answer, and the slowest ask after that."""
    with serving(folder, compile_mode) as service:
        while service.http.get("/readyz").status_code != 200:
            time.sleep(0.01)
        asked(service, "shop")
        first, end = time.perf_counter() - service.begun, time.perf_counter() + PATIENCE
        slowest = 0.0
        while time.perf_counter() < end and service.http.get("/readyz").json()["interpreted"]:
            slowest = max(slowest, *(asked(service, name) for name in PROBLEMS))
            time.sleep(0.01)
        return first, slowest
