"""Scenarios: named environments with options, and a sentence on what each demonstrates.

Plugins may have scenarios, too.
"""

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from belated import plugins
from belated.checks import as_count, as_number
from belated.environments.environment import (
    AdviceProcess,
    ContextProcess,
    ContextualDelays,
    ContextualLosses,
    DelayProcess,
    Environment,
    LossProcess,
)
from belated.specs import listed

MODULES = (
    "synthetic",
    "contexts",
    "counterexamples",
    "stocks",
    "training_jobs",
    "clinical_trial",
    "ads",
    "contextual.visitors",
    "contextual.classes",
)

Option = int | float | str


class Parts(NamedTuple):
    """What a scenario function returns: the parts of an environment, without its name."""

    losses: LossProcess | ContextualLosses
    delays: DelayProcess | ContextualDelays
    rounds: int
    labels: Sequence[str] = ()
    prior: Sequence[float] | None = None
    advice: AdviceProcess | None = None
    loss_range: Sequence[float] = (0.0, 1.0)
    default_loss: float | None = None
    contexts: ContextProcess | None = None


@dataclass(frozen=True)
class Scenario:
    """A named recipe for environments. The keyword parameters of `parts` are its options.

    `shows` says in one sentence what the scenario demonstrates; `real` says whether losses and
    delays come from measured data.
    """

    name: str
    shows: str
    parts: Callable[..., Parts]
    real: bool

    @functools.cached_property
    def options(self) -> Mapping[str, Option | None]:
        """The options with their defaults; None means all rounds of the data."""
        return {name: option.default for name, option in self._parameters.items()}

    def environment(self, **options: Option) -> Environment:
        """The environment with these options, which become part of its name."""
        checked = {name: self._checked(name, value) for name, value in options.items()}
        parts = self.parts(**checked)
        suffix = ",".join(f"{name}={value}" for name, value in checked.items())
        name = f"{self.name}:{suffix}" if suffix else self.name
        return Environment(name, shows=self.shows, **parts._asdict())

    @property
    def available(self) -> bool:
        """Whether the scenario can be played on this machine."""
        return self.why_not is None

    @property
    def why_not(self) -> str | None:
        """Why the scenario cannot be played on this machine; None if it can."""
        return self._default if isinstance(self._default, str) else None

    @property
    def rounds(self) -> int | None:
        """T, the rounds with the default options; None if the scenario is not available."""
        return None if isinstance(self._default, str) else self._default.rounds

    @property
    def arms(self) -> int | None:
        """K, the arms with the default options; None if the scenario is not available."""
        return None if isinstance(self._default, str) else self._default.arms

    @property
    def features(self) -> int | None:
        """How many numbers learners see of each round; None if the scenario is not available."""
        return None if isinstance(self._default, str) else len(self._default.features)

    @functools.cached_property
    def _default(self) -> Environment | str:
        try:
            return self.environment()
        except ValueError as error:
            return str(error)

    @functools.cached_property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.parts).parameters

    def _checked(self, name: str, value: Any) -> Option:
        if name not in self._parameters:
            raise ValueError(
                f"{self.name} has no option {name!r}; it has {listed(self.options, name)}"
            )
        kind = self._parameters[name].annotation
        if kind is str:
            return str(value)
        return as_number(value, name) if kind is float else as_count(value, name, 0)


def scenario_named(
    name: str, shows: str, real: bool = False
) -> Callable[[Callable[..., Parts]], Scenario]:
    """A decorator that makes a scenario of a function; its parameters must be int, float or str."""
    return lambda parts: Scenario(name, shows, parts, real)


def scenario(name: str, /, **options: Option) -> Environment:
    """Return the environment of a built-in scenario; options replace the defaults.

    Example:
        >>> game = scenario("late-best", rounds=300)
        >>> game.rounds, game.arms, game.labels[0]
        (300, 5, 'late best')
    """
    found = _own().get(name) or _plugged(name)
    if found is None:
        known = [each.name for each in scenarios()]
        raise ValueError(f"scenario is {name!r}; it must be one of {listed(known, name)}")
    return found.environment(**options)


def scenarios() -> list[Scenario]:
    """Return all scenarios, including those whose data is not available on this machine.

    Those of plugins come last. A warning names plugins that cannot be used.
    """
    return list(_registered().values())


@functools.cache
def _registered() -> dict[str, Scenario]:
    return _own() | plugins.usable(plugins.SCENARIOS, _checked_plugin, taken=_own())


@functools.cache
def _own() -> dict[str, Scenario]:
    found: dict[str, Scenario] = {}
    for name in MODULES:
        module = importlib.import_module(f"belated.environments.{name}")
        found |= {s.name: s for s in vars(module).values() if isinstance(s, Scenario)}
    return found


@functools.cache
def _plugged(name: str) -> Scenario | None:
    plugin = plugins.found_in(plugins.SCENARIOS).get(name)
    return None if plugin is None else plugin.load(_checked_plugin)


def _checked_plugin(name: str, found: Any) -> Scenario:
    """The scenario that an entry point names; ValueError if it is something else."""
    if not isinstance(found, Scenario):
        raise ValueError(f"it is {found!r}; it must be made by the decorator scenario_named")
    plugins.check_name(name, found.name)
    return replace(found, parts=_in_one_sentence(name, found.parts))


def _in_one_sentence(name: str, parts: Callable[..., Parts]) -> Callable[..., Parts]:
    """The function of a plugin's scenario, any error of which is a ValueError of one sentence."""

    @functools.wraps(parts)
    def made(**options: Option) -> Parts:
        try:
            found = parts(**options)
        except ValueError:
            raise
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise ValueError(f"the scenario {name!r} cannot be made: {reason}") from error
        if not isinstance(found, Parts):
            raise ValueError(f"the scenario {name!r} gives {found!r}; it must return Parts")
        return found

    return made
