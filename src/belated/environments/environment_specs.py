"""Environments by name: a scenario with its options, or a file with losses and delays."""

from collections.abc import Sequence
from pathlib import Path

from belated.environments.environment import Environment
from belated.environments.files import environment_from_file
from belated.environments.scenarios import scenario
from belated.specs import named_options
from belated.table_files import READABLE


def environment_named(
    text: str, loss_range: Sequence[float] | None = None, features: Sequence[str] = ()
) -> Environment:
    """An environment from text such as "late-best", "late-best:delay=500" or "my.parquet".

    `loss_range` is the (low, high) that the losses of a file lie in, and `features` are the columns
    that make its contexts; a scenario has its own.
    """
    path = Path(text)
    if path.suffix.lower() in READABLE or path.is_file():
        return environment_from_file(path, loss_range, features)
    if loss_range is not None:
        raise ValueError(f"a loss range is given for {text}; only files are given one")
    if features:
        raise ValueError(f"features are given for {text}; only files are given them")
    name, options = named_options(text)
    return scenario(name, **options)
