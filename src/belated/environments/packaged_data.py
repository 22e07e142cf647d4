"""Data that comes with the package; `data/ORIGIN.md` says from where and under which licence."""

from importlib.resources import files
from typing import IO

from belated.checks import as_count


def packaged(name: str) -> IO[bytes]:
    """A file of the package's data, opened."""
    return (files("belated.environments") / "data" / name).open("rb")


def as_rounds(rounds: int | None, most: int) -> int:
    """How many rounds of recorded data to play; None means all."""
    return most if rounds is None else as_count(rounds, "rounds", 1, most)
