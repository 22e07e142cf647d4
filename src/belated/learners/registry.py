"""The registry: every learner of this package, found by looking into its modules."""

import functools
import importlib
import pkgutil
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from belated import learners
from belated.learners.copies import titled
from belated.learners.learner import Learner
from belated.values import listed

COPYING = {"bold": "bold", "copies": "rotating"}  # how their names begin -> module, and its maker


@functools.cache
def registered() -> dict[str, type[Learner]]:
    """All learners by name; a new file in this package with a named learner is all it takes."""
    for module in pkgutil.iter_modules(learners.__path__):
        importlib.import_module(f"{learners.__name__}.{module.name}")
    return {kind.name: kind for kind in sorted(descendants(Learner), key=_by_name)}


def learner_named(name: str) -> type[Learner]:
    """A registered learner, or copies of one (bold-BASE, copies-BASE); or a clear error."""
    kind = found_alone(name)
    if kind is not None:
        return kind
    kinds = registered()
    kind = kinds.get(name) or copies_named(name)
    if kind is None:
        raise ValueError(f"learner is {name!r}; it must be one of {listed(kinds, name)}")
    return kind


@functools.cache
def copies_named(name: str) -> type[Learner] | None:
    """Copies of a registered learner, made when they are first asked for."""
    first, _, base = name.partition("-")
    if first not in COPYING or base not in registered():
        return None
    home: Any = importlib.import_module(f"{learners.__name__}.{COPYING[first]}")
    kind: type[Learner] = getattr(home, COPYING[first])(name, registered()[base], home.__name__)
    return kind


def copies_titled(first: str, title: str) -> type[Learner]:
    """Copies by the name of their class: compiled code and saved states of them know that only."""
    for base in registered():
        name = f"{first}-{base}"
        if title == titled(name):
            kind = copies_named(name)
            assert kind is not None
            return kind
    raise AttributeError(f"there are no copies called {title!r}")


@functools.cache
def found_alone(name: str) -> type[Learner] | None:
    """The learner in the module of its name; to import all others would take a while."""
    module = name.replace("-", "_")
    if module not in {each.name for each in pkgutil.iter_modules(learners.__path__)}:
        return None
    space = vars(importlib.import_module(f"{learners.__name__}.{module}"))
    kinds = [
        each for each in space.values() if isinstance(each, type) and issubclass(each, Learner)
    ]
    return next((each for each in kinds if vars(each).get("name") == name), None)


def option_names(kind: type[Learner]) -> list[str]:
    """The names of all options of a learner."""
    return [each.name for each in fields(kind) if each.name != "arms"]


def check_options(kind: type[Learner], options: Iterable[str]) -> None:
    """Make sure that a learner has all options of these names."""
    known = option_names(kind)
    for option in options:
        if option not in known:
            has = listed(known, option)
            raise ValueError(f"{kind.name} has no option {option!r}; it has {has}")


def descendants(parent: Any) -> list[type[Learner]]:
    """The learners that descend from a class, those without a name of their own left out."""
    found = [each for child in parent.__subclasses__() for each in (child, *descendants(child))]
    return [each for each in found if "name" in vars(each)]


def _by_name(learner: type[Learner]) -> str:
    return learner.name
