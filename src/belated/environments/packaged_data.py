"""Access to the data files in the package; `data/ORIGIN.md` has their origins and licences."""

from importlib.resources import files
from typing import IO

from belated.checks import as_count


def packaged(name: str) -> IO[bytes]:
    """Open a data file of the package for reading, in binary."""
    return (files("belated.environments") / "data" / name).open("rb")


def as_rounds(rounds: int | None, most: int) -> int:
    """Check a number of rounds against the `most` that the data has; None means all of them."""
    return most if rounds is None else as_count(rounds, "rounds", 1, most)
