"""The machine that a benchmark runs on. This module imports nothing heavy."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def use_one_thread() -> None:
    """Keep peers' linear algebra on one thread: CPU time would count them all.

    It must be called before numpy is imported; a user's own setting stands.
    """
    for name in THREADS:
        os.environ.setdefault(name, "1")


def machine_facts() -> dict[str, str]:
    """CPU, cores, system, Python and the versions that matter."""
    facts = {
        "cpu": cpu_model(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    for name in ("belated", "numpy", "numba", "llvmlite"):
        try:
            facts[name] = version(name)
        except PackageNotFoundError:
            facts[name] = "unknown"
    return facts


def cpu_model() -> str:
    """The processor's name, where the system tells it."""
    path = Path("/proc/cpuinfo")
    if path.is_file():
        for line in path.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
