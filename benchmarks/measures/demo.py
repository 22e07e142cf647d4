"""Measure 22: `make demo` from an empty clone, set-up included, and once more."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import SECONDS, Effort, Result, at_most, exactly

CLONE = Path(__file__).parents[2]


def demo(effort: Effort) -> Iterator[Result]:
    """Measure 22: the seconds of the first `make demo` in a clone, and of the second."""
    if effort.quick:
        return  # it installs the package and its dependencies
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "belated"
        subprocess.run(["git", "clone", "-q", str(CLONE), str(there)], check=True)
        environment = os.environ | {"BELATED_CACHE_DIR": f"{folder}/cache", "HOME": folder}
        environment.pop("BELATED_COMPILE", None)
        for what, limit in (("first make demo", 100.0), ("second make demo", 12.0)):
            begun = time.perf_counter()
            subprocess.run(
                ["make", "demo"], check=True, cwd=there, env=environment, capture_output=True
            )
            value = exactly(time.perf_counter() - begun)
            yield Result(what, value, SECONDS, None, at_most(limit))
