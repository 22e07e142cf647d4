"""Users' own data: an environment from a file or from arrays.

A file is a table with the columns round, arm, loss, and delay or arrival, a row for each round and
arm. Rounds run from 1 without a gap; `arrival` is the round at whose end the loss is known; where
delay or arrival is empty, it never is.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from belated.environments.environment import Environment
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.tables import PLACES, Rows, read_rows

SUFFIXES = tuple(PLACES)


def environment_from_arrays(
    losses: ArrayLike, delays: ArrayLike, labels: Sequence[str] = (), name: str = "given"
) -> Environment:
    """An environment from two tables, each with a row for each round and a column for each arm.

    A delay of NaN, infinity or -1 means never.
    """
    given_losses, given_delays = GivenLosses(np.asarray(losses)), GivenDelays(np.asarray(delays))
    shapes = given_losses.values.shape, given_delays.values.shape
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"losses have the shape {shapes[0]} and delays {shapes[1]}; they must have the same"
        )
    return Environment(name, given_losses, given_delays, shapes[0][0], labels)


def environment_from_file(path: str | Path) -> Environment:
    """An environment from a CSV or Parquet file; arms are in the order in which they appear."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path.name} is of unknown kind; it must end in {' or '.join(SUFFIXES)}")
    names: dict[str, int] = {}
    try:
        parts = list(read_rows(path, names))
        if not parts:
            raise ValueError("there are no rows; there must be one for each round and arm")
        rows = Rows(*map(np.concatenate, zip(*parts, strict=True)))
        order = _in_order(rows, list(names), PLACES[suffix])
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    shape = (-1, len(names))
    losses, delays = rows.losses[order].reshape(shape), rows.delays[order].reshape(shape)
    return environment_from_arrays(losses, delays, list(names), path.stem)


def _in_order(
    rows: Rows, labels: list[str], place: str
) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """The order that sorts the rows by round and arm, if each pair is there exactly once."""
    present = np.unique(rows.rounds)
    absent = np.flatnonzero(present != np.arange(1, present.size + 1))
    if absent.size:
        raise ValueError(f"round {absent[0] + 1} has no row; rounds must run from 1 without a gap")
    pairs = (rows.rounds - 1) * len(labels) + rows.arms
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    again = np.flatnonzero(pairs[1:] == pairs[:-1])
    if again.size:
        first, second = rows.places[order[again[0] : again[0] + 2]]
        round_, arm = divmod(int(pairs[again[0]]), len(labels))
        raise ValueError(
            f"round {round_ + 1} and arm {labels[arm]!r} stand in {place} {first} and in {place} "
            f"{second}; each pair must stand once"
        )
    holes = np.flatnonzero(pairs != np.arange(pairs.size))
    hole = int(holes[0]) if holes.size else pairs.size
    if hole < present.size * len(labels):
        round_, arm = divmod(hole, len(labels))
        raise ValueError(
            f"round {round_ + 1} has no row for arm {labels[arm]!r}; every round must have one for "
            "each arm"
        )
    return order
