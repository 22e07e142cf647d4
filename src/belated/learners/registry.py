"""The registry: every learner of this package, found by looking into its modules."""

import functools
import importlib
import pkgutil

from belated import learners
from belated.learners.learner import Learner


@functools.cache
def registered() -> dict[str, type[Learner]]:
    """All learners by name; a new file in this package with a named learner is all it takes."""
    for module in pkgutil.iter_modules(learners.__path__):
        importlib.import_module(f"{learners.__name__}.{module.name}")
    return {learner.name: learner for learner in sorted(Learner.__subclasses__(), key=_by_name)}


def _by_name(learner: type[Learner]) -> str:
    return learner.name
