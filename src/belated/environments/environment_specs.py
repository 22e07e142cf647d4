"""Environments by name: a scenario with its options, or a file with losses and delays."""

from pathlib import Path

from belated.environments.environment import Environment
from belated.environments.files import SUFFIXES, environment_from_file
from belated.environments.scenarios import scenario
from belated.specs import named_options


def environment_named(text: str) -> Environment:
    """An environment from text such as "late-best", "late-best:delay=500" or "my.parquet"."""
    if Path(text).suffix.lower() in SUFFIXES:
        return environment_from_file(Path(text))
    if Path(text).is_file():
        raise ValueError(
            f"{Path(text).name} is of unknown kind; it must end in {' or '.join(SUFFIXES)}"
        )
    name, options = named_options(text)
    return scenario(name, **options)
