"""Policies in text form, as the command line takes them.

`uniform`, `best-arm`, the name of an arm (or `arm:NAME`), `learner:NAME` with options as elsewhere,
`FILE.py:FUNCTION`, a function of the context, and `FILE.json`, a learner saved with `to_json`.
"""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any


def policy_in(text: str) -> Any:
    """Return the policy that a text stands for; the name of an arm is returned as it is."""
    file, _, function = text.rpartition(":")
    if file.endswith(".py"):
        return _function(Path(file), function)
    if text.endswith(".json"):
        return _saved(Path(text))
    return text


def _function(path: Path, name: str) -> Callable[..., Any]:
    """Return a function of a Python file."""
    if not path.is_file():
        raise ValueError(f"policy is {path}:{name}; there is no file {path}")
    spec = importlib.util.spec_from_file_location("belated_policy", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the user's file raises
        raise ValueError(f"{path.name} cannot be run: {error!r}") from None
    found = getattr(module, name, None)
    if not callable(found):
        raise ValueError(f"policy is {path}:{name}; {path.name} must have a function {name!r}")
    wanted: Callable[..., Any] = found
    return wanted


def _saved(path: Path) -> Any:
    """Return a learner that was saved with `to_json`."""
    from belated.asktell.loading import from_json

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(
            f"policy is {path}; it cannot be read: {getattr(error, 'strerror', error)}"
        ) from None
    return from_json(text)
