"""Native code of the installed wheel; a clone has none."""

from collections.abc import Callable
from typing import Any


def find(entry: Any) -> Callable[..., Any] | None:
    """Return the native function of an entry, or None if the package has none for it."""
    return None
