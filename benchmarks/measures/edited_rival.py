"""Measure 21: how soon an edited learner runs compiled again, in a copy of the package."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import SECONDS, Effort, Result, at_most
from benchmarks.timing import Spread

CLONE = Path(__file__).parents[2]
COPIED = ("src", "tests", "pyproject.toml")
EDITED = Path("src") / "belated" / "learners" / "adversarial" / "exp3_ix.py"
LAW = "tests/laws/test_interpreted_equals_compiled.py"  # holds a learner to its compiled form
COMMANDS = {
    "ask": ["-c", "import belated\nbelated.Bandit(3, learner='exp3-ix').ask()"],
    "pytest": ["-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", LAW, "-k", "exp3-ix"],
}


def edited_rival(effort: Effort) -> Iterator[Result]:
    """Measure 21: a process that needs an edited learner compiled, from its start to its end."""
    with tempfile.TemporaryDirectory() as folder:
        copy_into(Path(folder))
        for name, command in COMMANDS.items():
            if name == "pytest" and importlib.util.find_spec("xdist") is None:
                continue
            run(command, Path(folder))
            seconds = []
            for turn in range(effort.choose(5, 1)):
                with open(Path(folder) / EDITED, "a", encoding="utf-8") as file:
                    file.write(f"\nTURN = '{name} {turn}'\n")
                begun = time.perf_counter()
                run(command, Path(folder))
                seconds.append(time.perf_counter() - begun)
            what = f"exp3-ix, edited: {name}"
            yield Result(what, Spread.of(seconds), SECONDS, None, at_most(15.0))


def copy_into(folder: Path) -> None:
    """Copy the package and its tests."""
    for name in COPIED:
        if (CLONE / name).is_dir():
            shutil.copytree(CLONE / name, folder / name)
        else:
            shutil.copy(CLONE / name, folder / name)


def run(command: list[str], folder: Path) -> None:
    """Run Python in the copy, where whatever is called waits for the compiler."""
    environment = os.environ | {
        "BELATED_COMPILE": "wait",
        "BELATED_COMPILED": "1",
        "BELATED_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": str(folder / "src"),
    }
    python = [sys.executable, *command]
    subprocess.run(python, check=True, env=environment, cwd=folder, capture_output=True)
