"""Measure 21: how soon an edited learner runs compiled again, in a copy of the package."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import belated
from benchmarks.measure import SECONDS, Effort, Result, at_most
from benchmarks.timing import Spread

EDITED = Path("learners") / "adversarial" / "exp3_ix.py"
CODE = "import belated\nbelated.Bandit(3, learner='exp3-ix').ask()"


def edited_rival(effort: Effort) -> Iterator[Result]:
    """Measure 21: a process that needs an edited learner compiled, from its start to its end."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "belated"
        shutil.copytree(Path(belated.__file__).parent, package)
        asked(Path(folder))
        for turn in range(effort.choose(5, 1)):
            with open(package / EDITED, "a", encoding="utf-8") as file:
                file.write(f"\nTURN = {turn}\n")
            begun = time.perf_counter()
            asked(Path(folder))
            seconds.append(time.perf_counter() - begun)
    yield Result("exp3-ix, edited", Spread.of(seconds), SECONDS, None, at_most(15.0))


def asked(folder: Path) -> None:
    """Ask the learner in a new process that waits for the compiler."""
    environment = os.environ | {
        "BELATED_COMPILE": "wait",
        "BELATED_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": str(folder),
    }
    command = [sys.executable, "-c", CODE]
    subprocess.run(command, check=True, env=environment, cwd=folder, capture_output=True)
