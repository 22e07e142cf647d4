"""When, where and with which versions a comparison was made, for those who read its report."""

import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from belated import __version__

PACKAGES = ("numpy", "numba")  # digits may depend on their versions


@dataclass(frozen=True)
class RunEnvironment:
    """The date of a comparison (UTC), the machine without its name, and versions of software."""

    date: str
    machine: str
    software: str


def run_environment_now() -> RunEnvironment:
    """Return the date, the machine and the versions of this moment."""
    cores = os.cpu_count() or 1
    where = f"{platform.system()} on {platform.machine()}, {cores} core{'s' if cores > 1 else ''}"
    found = [f"belated {__version__}", f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return RunEnvironment(datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), where, ", ".join(found))
