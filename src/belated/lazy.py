"""Packages whose exports are imported on first use.

The learners need numba, which takes half a second to import. A package whose `__init__` imported
everything it exports would make `import belated` and `belated --help` pay for it.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_exports(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for a package: it imports a name from its home when it is first used.

    `homes` maps each exported name to the module that defines it. The package imports the names
    under `if TYPE_CHECKING`, too, so that editors and type checkers see them.
    """

    def get(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get
