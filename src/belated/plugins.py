"""Plugins: learners and scenarios of other packages, found by their entry points.

A package names its learners in the group `belated.learners` and its scenarios in the group
`belated.scenarios` of its entry points. They are looked up when a name is asked for that belated
does not have itself, or a list of all; until then nothing of a plugin is imported. A plugin that
cannot be used is named in one sentence, and harms nothing else.
"""

import functools
import re
import warnings
from collections.abc import Callable, Container, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple, TypeVar

from belated.types import BelatedWarning

LEARNERS, SCENARIOS = "belated.learners", "belated.scenarios"
NAME = re.compile(r"\w[\w-]*")

Loaded = TypeVar("Loaded")


class PluginError(ValueError):
    """Raised when a plugin that was asked for cannot be used; the message says why."""


class Plugin(NamedTuple):
    """What some package calls by a name; `entries` has more than one if several packages do."""

    name: str
    entries: tuple[EntryPoint, ...]

    @property
    def package(self) -> str:
        """The packages with this plugin and their versions, as "coffee-learners 1.0"."""
        return " and ".join(map(_distribution, self.entries))

    def load(self, checked: Callable[[str, Any], Loaded]) -> Loaded:
        """Import the plugin, and return it checked; PluginError if that fails."""
        if len(self.entries) > 1:
            raise PluginError(
                f"the plugin {self.name!r} is in several packages, {self.package}; uninstall all "
                "but one"
            )
        try:
            found = self.entries[0].load()
        except (Exception, SystemExit) as error:
            raise self._error(f"{type(error).__name__}: {error}") from error
        try:
            return checked(self.name, found)
        except ValueError as error:
            raise self._error(str(error)) from None

    def _error(self, reason: str) -> PluginError:
        one_line = " ".join(reason.split())
        return PluginError(f"the plugin {self.name!r} of {self.package} cannot be used: {one_line}")


def _distribution(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"


@functools.cache
def found_in(group: str) -> Mapping[str, Plugin]:
    """Return all plugins of a group by name, in alphabetical order; none is imported."""
    by_name: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=group):
        by_name.setdefault(entry.name, []).append(entry)
    return {name: Plugin(name, tuple(by_name[name])) for name in sorted(by_name)}


def usable(
    group: str, checked: Callable[[str, Any], Loaded], taken: Container[str]
) -> dict[str, Loaded]:
    """Import all plugins of a group; a warning names each that cannot be used.

    The names in `taken` are those of belated itself, which no plugin replaces.
    """
    loaded = {}
    for name, plugin in found_in(group).items():
        try:
            if name in taken:
                raise PluginError(
                    f"the plugin {name!r} of {plugin.package} is not used: belated itself has "
                    "something of this name"
                )
            loaded[name] = plugin.load(checked)
        except PluginError as error:
            warnings.warn(str(error), BelatedWarning, stacklevel=2)
    return loaded


def check_name(entry: str, own: object) -> None:
    """Refuse a plugin whose own name is another than that of its entry point, or cannot be typed.

    On the command line a colon, a comma and an equals sign would begin an option.
    """
    if own != entry:
        raise ValueError(f"it calls itself {own!r}; its entry point must have the same name")
    if not NAME.fullmatch(entry):
        raise ValueError("its name must consist of letters, digits, - and _")


@functools.cache
def packages() -> frozenset[str]:
    """Return the top-level names of the packages that have learners."""
    entries = [entry for plugin in found_in(LEARNERS).values() for entry in plugin.entries]
    return frozenset(entry.module.partition(".")[0] for entry in entries)
