"""Measure 22: `make demo` from an empty clone, set-up included, and once more."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.measure import SECONDS, Effort, Result, at_most
from benchmarks.timing import Spread

CLONE = Path(__file__).parents[2]
CLONES = 5


def demo(effort: Effort) -> Iterator[Result]:
    """Measure 22: the seconds of the first `make demo` in a clone, and of the second."""
    if effort.quick:
        return  # it installs the package and its dependencies
    seconds = [in_an_empty_clone() for _ in range(CLONES)]
    first, second = (Spread.of(each) for each in zip(*seconds, strict=True))
    yield Result("first make demo", first, SECONDS, None, at_most(100.0))
    yield Result("second make demo", second, SECONDS, None, at_most(12.0))


def in_an_empty_clone() -> tuple[float, float]:
    """Clone, and run `make demo` twice, with an empty cache and an empty home."""
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "belated"
        subprocess.run(["git", "clone", "-q", str(CLONE), str(there)], check=True)
        environment = os.environ | {"BELATED_CACHE_DIR": f"{folder}/cache", "HOME": folder}
        environment.pop("BELATED_COMPILE", None)
        return seconds_of_demo(there, environment), seconds_of_demo(there, environment)


def seconds_of_demo(clone: Path, environment: Mapping[str, str]) -> float:
    """Run `make demo` in a clone."""
    begun = time.perf_counter()
    subprocess.run(["make", "demo"], check=True, cwd=clone, env=environment, capture_output=True)
    return time.perf_counter() - begun
