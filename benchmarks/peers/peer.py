"""Peers: other software that does part of what we do, and whether it is installed."""

import contextlib
import functools
import importlib
import io
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from belated.arrays import Floats

INSTALL = "pip install 'belated[bench]'"


@dataclass(frozen=True)
class Presence:
    """Whether a peer can be used here: its version, or the reason why it cannot."""

    name: str
    install: str
    version: str | None
    reason: str | None

    @property
    def usable(self) -> bool:
        """Whether the peer is measured."""
        return self.reason is None


@dataclass(frozen=True)
class Peer:
    """A peer; `modules` must be imported for it to work, and the first is shown to the user."""

    name: str
    distribution: str
    modules: tuple[str, ...]
    install: str = INSTALL

    @functools.cached_property
    def presence(self) -> Presence:
        """The version of the peer, or the reason why it cannot be imported here."""
        try:
            number = version(self.distribution)
        except PackageNotFoundError:
            return Presence(self.name, self.install, None, f"not installed ({self.install})")
        try:
            with quietly():
                for module in self.modules:
                    importlib.import_module(module)
        except Exception as error:  # a peer may fail in any way
            text = f"{number} cannot be imported: {' '.join(str(error).split())}"
            return Presence(self.name, self.install, number, text)
        return Presence(self.name, self.install, number, None)


@contextlib.contextmanager
def quietly() -> Any:
    """Suppress output and warnings, since some peers print while they are imported."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Policy(Protocol):
    """A bandit that is asked for an arm and then told its reward at once."""

    def decide(self) -> int: ...

    def learn(self, arm: int, reward: float) -> None: ...


@dataclass(frozen=True)
class BanditPeer(Peer):
    """A peer with bandits; `policies` gives functions that make a policy for a number of arms."""

    policies: Callable[[], Mapping[str, Callable[[int], Policy]]] = dict


Step = Callable[[Floats], Floats]


@dataclass(frozen=True)
class ExpertsPeer(Peer):
    """A peer with experts; `learners` gives functions that make a learner.

    A learner is a function from the losses of a round to weights.
    """

    learners: Callable[[], Mapping[str, Callable[[int], Step]]] = dict


@dataclass(frozen=True)
class Argmin:
    """The constants of the argmin eq:frameworkprediction with eq:banditreg1 and eq:banditreg2.

    The prior p_1 and the rates gamma are those of all rounds; the losses Lhat^av and eta are given
    for each solution.
    """

    prior: Floats
    rates: Floats


Solve = Callable[[Floats, float], Floats]


@dataclass(frozen=True)
class SolverPeer(Peer):
    """A peer that solves convex problems; `solver` makes a function from (losses, eta) to p."""

    solver: Callable[[Argmin], Solve] | None = None
