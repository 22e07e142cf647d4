"""Adapters are tested by `make check`, which installs the libraries that they adapt."""

import importlib.util
from pathlib import Path

import pytest

NEEDS = {"test_gymnasium": "gymnasium", "test_optuna": "optuna", "test_river": "gymnasium"}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a module out whose library is not installed, where its tests are not wanted anyway."""
    library = NEEDS.get(collection_path.stem)
    wanted = config.getoption("markexpr", "") in ("", "check")
    absent = library is not None and importlib.util.find_spec(library) is None
    return True if absent and not wanted else None
