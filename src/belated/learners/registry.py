"""The registry of learners: it finds every learner class in the modules of this package."""

import functools
import importlib
import pkgutil
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from belated import learners
from belated.learners.contract import Learner
from belated.specs import listed

# The first word of a wrapped learner's name -> the module and the function that make its class.
COPYING = {"bold": ("wrappers.bold", "bold"), "copies": ("wrappers.rotating", "rotating")}


@functools.cache
def registered() -> dict[str, type[Learner]]:
    """Return all learner classes by name.

    A new module in a family is found without being listed anywhere: its learner needs only a name.
    """
    for module in learner_modules().values():
        importlib.import_module(module)
    return {kind.name: kind for kind in sorted(descendants(Learner), key=_by_name)}


def learner_named(name: str) -> type[Learner]:
    """Return the learner class of this name, registered or wrapped (bold-BASE, copies-BASE).

    An unknown name raises a ValueError that lists the known ones.
    """
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
    """Return the wrapper class of this name over a registered learner, or None if there is none.

    The class is made at the first call.
    """
    first, _, base = name.partition("-")
    if first not in COPYING or base not in registered():
        return None
    module, maker = COPYING[first]
    home: Any = importlib.import_module(f"{learners.__name__}.{module}")
    kind: type[Learner] = getattr(home, maker)(name, registered()[base], home.__name__)
    return kind


@functools.cache
def found_alone(name: str) -> type[Learner] | None:
    """Return the learner class whose module has the same name, or None if there is none.

    Only that module is imported, because importing all learners takes a while.
    """
    module = learner_modules().get(name.replace("-", "_"))
    if module is None:
        return None
    space = vars(importlib.import_module(module))
    kinds = [
        each for each in space.values() if isinstance(each, type) and issubclass(each, Learner)
    ]
    return next((each for each in kinds if vars(each).get("name") == name), None)


@functools.cache
def learner_modules() -> dict[str, str]:
    """Return the full names of the modules of this package and its families, by last part."""
    found: dict[str, str] = {}
    for module in pkgutil.iter_modules(learners.__path__):
        name = f"{learners.__name__}.{module.name}"
        if module.ispkg:
            folders = [f"{folder}/{module.name}" for folder in learners.__path__]
            found |= {each.name: f"{name}.{each.name}" for each in pkgutil.iter_modules(folders)}
        else:
            found[module.name] = name
    return found


def option_names(kind: type[Learner]) -> list[str]:
    """Return the names of all options of a learner, except `arms`."""
    return [each.name for each in fields(kind) if each.name != "arms"]


def check_options(kind: type[Learner], options: Iterable[str]) -> None:
    """Raise a ValueError if the learner lacks an option of one of these names."""
    known = option_names(kind)
    for option in options:
        if option not in known:
            has = listed(known, option)
            raise ValueError(f"{kind.name} has no option {option!r}; it has {has}")


def descendants(parent: Any) -> list[type[Learner]]:
    """Return the subclasses of a class, direct and indirect, that define a `name` themselves."""
    found = [each for child in parent.__subclasses__() for each in (child, *descendants(child))]
    return [each for each in found if "name" in vars(each)]


def _by_name(learner: type[Learner]) -> str:
    return learner.name
