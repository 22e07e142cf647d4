"""The machine that a benchmark runs on. This module imports nothing heavy."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def use_one_thread() -> None:
    """Limit the linear algebra of peers to one thread, since CPU time counts all threads.

    It must be called before numpy is imported; a user's own setting is kept.
    """
    for name in THREADS:
        os.environ.setdefault(name, "1")


def machine_facts() -> dict[str, str]:
    """Return the CPU, its cores, the system, Python, and the versions of libraries that matter."""
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
    """Return the processor's name, if the system gives it."""
    path = Path("/proc/cpuinfo")
    if path.is_file():
        for line in path.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
