"""Environments by name: a scenario with its options, or a file with losses and delays."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from belated.environments.environment import Environment
from belated.environments.files import environment_from_file
from belated.environments.game_files import environment_from_game
from belated.environments.scenarios import scenario
from belated.specs import named_options
from belated.table_files import READABLE, kind_of


def environment_named(
    text: str, loss_range: Sequence[float] | None = None, features: Sequence[str] = ()
) -> Environment:
    """An environment from text such as "late-best", "late-best:delay=500" or "my.parquet".

    `loss_range` is the (low, high) that the losses of a file lie in, and `features` are the columns
    that make its contexts. A scenario has its own, and so has a game in a .json file.
    """
    path = Path(text)
    if kind_of(path) == ".json" and loss_range is None and not features:
        return environment_from_game(path)
    if is_data_file(text) or path.is_file():
        return environment_from_file(path, loss_range, features)
    if loss_range is not None:
        raise ValueError(f"a loss range is given for {text}; only files are given one")
    if features:
        raise ValueError(f"features are given for {text}; only files are given them")
    name, options = named_options(text)
    return scenario(name, **options)


def is_data_file(name: str) -> bool:
    """Whether a name is that of a file with losses and delays, by its ending."""
    return kind_of(Path(name)) in (*READABLE, ".json")


def environment_with(name: str, options: Mapping[str, Any]) -> Environment:
    """An environment from a name and its options, as a sweep has them.

    A file's options are `low` and `high`, the range of its losses, and `digest`, the beginning of
    the SHA-256 of its bytes, which must not have changed.
    """
    if not is_data_file(name):
        return scenario(name, **options)
    given = dict(options)
    digest = given.pop("digest", None)
    low, high = given.pop("low", None), given.pop("high", None)
    if given:
        raise ValueError(f"{name} has no option {next(iter(given))!r}; a file has low and high")
    if digest is not None and digest != file_digest(name):
        raise ValueError(f"{name} has changed since the sweep began; use a new store")
    unit = low is None and high is None
    return environment_named(name, None if unit else (low or 0.0, 1.0 if high is None else high))


def file_digest(name: str) -> str:
    """The first twelve hexadecimal digits of the SHA-256 of a file, after an x."""
    with Path(name).open("rb") as file:
        return "x" + hashlib.file_digest(file, "sha256").hexdigest()[:12]
