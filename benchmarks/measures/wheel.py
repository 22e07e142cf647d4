"""Measure 23: the wheel with native learners, installed where there is no numba."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import MEGABYTES, SECONDS, Effort, Result, at_most, exactly
from benchmarks.measures.startup import FIRST, SECONDS_SINCE, printed
from benchmarks.timing import Spread

CLONE = Path(__file__).parents[2]
ASK_TELL = """
import time
import belated
bandit = belated.ConcealedBandit(10, max_missing=1000, seed=1)
best = []
for _ in range(9):
    begun = time.perf_counter()
    for _ in range(20000):
        bandit.tell(bandit.ask(), loss=0.5)
    best.append((time.perf_counter() - begun) / 20000)
print(min(best))
"""


def wheel(effort: Effort) -> Iterator[Result]:
    """Measure 23: size, first decision, and ask with tell of the installed wheel."""
    if effort.quick:
        return  # building it takes minutes
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "belated"
        subprocess.run(["git", "clone", "-q", str(CLONE), str(there)], check=True)
        make = ["make", "wheel", f"BIN={Path(sys.executable).parent}", "-o", ".venv/dev"]
        subprocess.run(make, check=True, cwd=there, capture_output=True)
        (file,) = (there / "dist").glob("*.whl")
        yield Result("wheel", exactly(file.stat().st_size / 1e6), MEGABYTES, None, at_most(5.0))
        python = installed(file, Path(folder) / "env")
        size = sum(path.stat().st_size for path in packages(python)) / 1e6
        yield Result("installed, numpy included", exactly(size), MEGABYTES, None, at_most(120.0))
        for name, code in FIRST.items():
            times = [float(printed(code + SECONDS_SINCE, folder, str(python))) for _ in range(9)]
            yield Result(f"{name}, first ask", Spread.of(times), SECONDS, None, at_most(0.35))
        times = [float(printed(ASK_TELL, folder, str(python))) for _ in range(5)]
        yield Result("ask + tell", Spread.of(times), SECONDS, 10, at_most(2e-6))


def installed(file: Path, folder: Path) -> Path:
    """Install a wheel and what it needs in an environment of its own; returns its Python."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, str(file)], check=True)
    subprocess.run(
        [str(python), "-c", "import importlib.util as u; assert not u.find_spec('numba')"]
    )
    return python


def packages(python: Path) -> Iterator[Path]:
    """Yield the installed files, without those of the installer itself."""
    (folder,) = (python.parents[1] / "lib").glob("*/site-packages")
    for path in folder.rglob("*"):
        ours = path.relative_to(folder).parts[0]
        if path.is_file() and not ours.startswith(("pip", "setuptools", "pkg_resources", "_dist")):
            yield path
