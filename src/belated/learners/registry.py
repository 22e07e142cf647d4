"""The registry of learners: the classes in the modules of this package, and those of plugins."""

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from belated import learners, plugins
from belated.learners.contract import Learner, Verbs
from belated.specs import listed
from belated.types import Covers, Origin, Setting

# The first word of a wrapped learner's name -> the module and the function that make its class.
COPYING = {"bold": ("wrappers.bold", "bold"), "copies": ("wrappers.rotating", "rotating")}
# What the class of a plugin must declare, for learners are listed, made and compiled by it.
DECLARED = {
    "name": str,
    "setting": Setting,
    "guarantee": str,
    "source": str,
    "needs": tuple,
    "covers": Covers,
    "origin": Origin,
    "state": type,
    "verbs": Verbs,
}


class UnknownLearnerError(ValueError):
    """Raised when no learner has a name; the message lists the names that there are."""


@functools.cache
def registered() -> dict[str, type[Learner]]:
    """Return all learner classes by name: those of this package, and those of plugins.

    A plugin that cannot be used is left out, and named in a warning.
    """
    own = own_learners()
    found = own | plugins.usable(plugins.LEARNERS, checked_plugin, taken=own)
    return {name: found[name] for name in sorted(found)}


@functools.cache
def own_learners() -> dict[str, type[Learner]]:
    """Return the learner classes of this package by name.

    A new module in a family is found without being listed anywhere: its learner needs only a name.
    """
    for module in learner_modules().values():
        importlib.import_module(module)
    kinds = [kind for kind in descendants(Learner) if kind.__module__ in _own_modules()]
    return {kind.name: kind for kind in kinds}


def learner_named(name: str) -> type[Learner]:
    """Return the learner class of this name: registered, wrapped (bold-BASE), or defined here.

    No plugin but the one that is asked for is imported. An unknown name raises an error that
    lists the known ones.
    """
    kind = found_alone(name) or own_learners().get(name) or plugged(name)
    kind = kind or copies_named(name) or defined_here(name)
    if kind is None:
        known = listed(registered(), name)
        raise UnknownLearnerError(f"learner is {name!r}; it must be one of {known}")
    return kind


@functools.cache
def plugged(name: str) -> type[Learner] | None:
    """Return the learner class that a plugin has under this name, or None if there is none."""
    plugin = plugins.found_in(plugins.LEARNERS).get(name)
    return None if plugin is None else plugin.load(checked_plugin)


def checked_plugin(name: str, found: Any) -> type[Learner]:
    """Return what an entry point names if it is a whole learner class; ValueError otherwise."""
    if not isinstance(found, type) or not issubclass(found, Learner):
        raise ValueError(f"it is {found!r}; it must be a subclass of Learner")
    for declaration, kind in DECLARED.items():
        declared = getattr(found, declaration, None)
        if not isinstance(declared, kind):
            raise ValueError(f"its {declaration} is {declared!r}; it must be a {kind.__name__}")
    plugins.check_name(name, found.name)
    if inspect.isabstract(found):
        absent = ", ".join(sorted(found.__abstractmethods__))
        raise ValueError(f"its class lacks the methods {absent}")
    return found


def package_of(kind: type[Learner]) -> str | None:
    """Return the package that has this learner as a plugin, as "coffee 1.0"; None if it is ours."""
    plugin = plugins.found_in(plugins.LEARNERS).get(kind.name)
    return None if plugin is None or kind.__module__ in _own_modules() else plugin.package


def defined_here(name: str) -> type[Learner] | None:
    """Return the newest learner class of this name that any module has defined, if there is one."""
    kinds = [kind for kind in descendants(Learner) if kind.name == name]
    return kinds[-1] if kinds else None


@functools.cache
def copies_named(name: str) -> type[Learner] | None:
    """Return the wrapper class of this name over a registered learner, or None if there is none.

    The class is made at the first call.
    """
    first, _, name_of_base = name.partition("-")
    base = first in COPYING and (own_learners().get(name_of_base) or plugged(name_of_base))
    if not base:
        return None
    module, maker = COPYING[first]
    home: Any = importlib.import_module(f"{learners.__name__}.{module}")
    kind: type[Learner] = getattr(home, maker)(name, base, home.__name__)
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


@functools.cache
def _own_modules() -> frozenset[str]:
    return frozenset(learner_modules().values())
