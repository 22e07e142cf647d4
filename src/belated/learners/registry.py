"""The registry: every learner of this package, found by looking into its modules."""

import functools
import importlib
import pkgutil
from typing import Any

from belated import learners
from belated.learners.learner import Learner


@functools.cache
def registered() -> dict[str, type[Learner]]:
    """All learners by name; a new file in this package with a named learner is all it takes."""
    for module in pkgutil.iter_modules(learners.__path__):
        importlib.import_module(f"{learners.__name__}.{module.name}")
    return {kind.name: kind for kind in sorted(descendants(Learner), key=_by_name)}


def descendants(parent: Any) -> list[type[Learner]]:
    """The learners that descend from a class, those without a name of their own left out."""
    found = [each for child in parent.__subclasses__() for each in (child, *descendants(child))]
    return [each for each in found if "name" in vars(each)]


def _by_name(learner: type[Learner]) -> str:
    return learner.name
