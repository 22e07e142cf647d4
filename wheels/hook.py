"""The hook by which hatchling puts the shared object into the wheel.

Without the environment variable BELATED_NATIVE_OBJECT, hatchling makes a wheel of plain Python.
"""

import os
import platform
import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

OBJECT = "BELATED_NATIVE_OBJECT"  # the path of the shared object that `python -m wheels` has built
VERSION = re.compile(rb"GLIBC_2\.(\d+)")


class NativeHook(BuildHookInterface[Any]):
    """Adds the shared object to a wheel, and says on which platforms the wheel then runs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects the files of the wheel."""
        path = os.environ.get(OBJECT)
        if path is None or version == "editable":
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform_of(Path(path))}"
        build_data["force_include"][path] = "belated/_native.abi3.so"


def platform_of(path: Path) -> str:
    """The platform tag of a shared object that needs nothing but a C library of some version."""
    needed = max(int(version) for version in VERSION.findall(path.read_bytes()))
    return f"manylinux_2_{needed}_{platform.machine()}"
