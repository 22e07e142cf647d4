"""Contenders: the learners of a comparison, each named with its options and built for a game."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from belated.analysis.game_sums import DelayStatistics
from belated.analysis.waiting import Waits
from belated.arrays import Floats
from belated.checks import MOST_ROUNDS, as_count
from belated.learners.contract import Learner
from belated.learners.driver import PlayableLearner
from belated.learners.needs import needed_options
from belated.learners.registry import check_options, learner_named, option_names
from belated.specs import named_options
from belated.types import DELIVERIES, Delivery, Need, Setting

METHODS = ("start", "predict", "commit", "observe")  # what a learner must have to play

FACTS: dict[Need, Callable[[int, Waits, DelayStatistics], Any]] = {
    Need.HORIZON: lambda rounds, waits, delays: rounds,
    Need.MAX_MISSING: lambda rounds, waits, delays: waits.most_missing,
    Need.TOTAL_DELAY: lambda rounds, waits, delays: waits.total_delay,
    Need.MAX_DELAY: lambda rounds, waits, delays: waits.max_delay,
    Need.MEAN_DELAY: lambda rounds, waits, delays: float(delays.mean.max()),
    Need.DELAY_LAW: lambda rounds, waits, delays: tuple(delays.law.tolist()),
    Need.TAIL_INDEX: lambda rounds, waits, delays: delays.tail_index,
}


class KnownGame(Protocol):
    """What is known of a game before it is played; `told` is asked only by learners that need it.

    The sums of a game have all of it.
    """

    @property
    def arms(self) -> int: ...

    @property
    def rounds(self) -> int: ...

    @property
    def prior(self) -> Floats: ...

    @property
    def policies(self) -> tuple[str, ...]: ...

    @property
    def features(self) -> tuple[str, ...]: ...

    @property
    def default_loss(self) -> float | None: ...

    def told(self, delivery: Delivery, window: int | None) -> tuple[Waits, DelayStatistics]: ...


@dataclass(frozen=True)
class Contender:
    """A learner in a comparison: a registered one with options, a learner already made, or a class.

    `kind` is a class that makes the learner of each game, for as many arms as the game has.

    A learner is given the facts that it declares to need and that the options do not give, such as
    its horizon, or the largest missing count as max_missing. They are computed from the game with
    the learner's delivery or window. If the environment declares a default loss, learners with this
    option are given it. A learner knows nothing else about the game in advance.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    ready: PlayableLearner | None = None
    kind: type[PlayableLearner] | None = None

    @property
    def label(self) -> str:
        """The name of the learner, with every option that was given."""
        given = [
            str(value) if name == "variant" else f"{name}={value}"
            for name, value in self.options.items()
        ]
        return f"{self.name} ({', '.join(given)})" if given else self.name

    @property
    def text(self) -> str | None:
        """The learner as `compare` takes it, with its options; None for one of the user's own."""
        if self.ready is not None or self.kind is not None:
            return None
        given = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.name}:{given}" if given else self.name

    def built(self, game: KnownGame) -> PlayableLearner:
        """Make the learner for a game of which this is known."""
        if self.ready is not None:
            return self.ready
        kind: Any = learner_named(self.name) if self.kind is None else self.kind
        declares_needs = self.kind is None or issubclass(kind, Learner)
        known = self.known_of(game, kind) if declares_needs else {}
        made: PlayableLearner
        if self.kind is None:
            made = kind(arms=game.arms, **known | dict(self.options))
            return made
        try:
            made = kind(arms=game.arms, **known | dict(self.options))
        except TypeError as error:
            raise TypeError(
                f"{kind.__name__} cannot be made with arms={game.arms}: {error}; give a learner "
                "that is made already, or a class that takes the number of arms"
            ) from None
        check_playable(made)
        return made

    def known_of(self, game: KnownGame, kind: type[Learner]) -> dict[str, Any]:
        """Return what a learner of this kind is told of the game, by the names of its options."""
        delivery, window = self.options.get("delivery"), self.options.get("window")
        if delivery not in DELIVERIES:
            delivery = kind.deliveries[0]  # the learner will refuse any other
        if window is not None:
            window = as_count(window, "window", 0, MOST_ROUNDS)
        known = needed_options(
            kind,
            lambda need: FACTS[need](game.rounds, *game.told(delivery, window)),
            given=self.options,
        )
        if Need.ADVICE in kind.needs and (game.policies or "policies" in self.options):
            known["policies"] = game.policies
        elif "prior" in option_names(kind):
            known["prior"] = tuple(game.prior.tolist())
        if Need.CONTEXT in kind.needs:
            known["features"] = len(game.features)
        if game.default_loss is not None and "default_loss" in option_names(kind):
            known["default_loss"] = game.default_loss
        return known


def check_playable(learner: object) -> None:
    """Refuse an object that cannot play: it must have a setting and the methods of a learner."""
    absent = [each for each in METHODS if not callable(getattr(learner, each, None))]
    if absent:
        raise TypeError(
            f"{type(learner).__name__} has no method {absent[0]!r}; a learner must have "
            f"{', '.join(METHODS)} and a setting"
        )
    setting = getattr(learner, "setting", None)
    if not isinstance(setting, Setting):
        raise TypeError(
            f"the setting of {type(learner).__name__} is {setting!r}; it must be one of "
            f"{', '.join(map(str, Setting))}"
        )


LearnerSpec = str | Contender | PlayableLearner | type[PlayableLearner]


def contender(given: LearnerSpec) -> Contender:
    """Make a contender of a learner, its class, or text such as "concealed:variant=repaired"."""
    if isinstance(given, Contender):
        return given
    if isinstance(given, type):
        return Contender(str(getattr(given, "name", given.__name__)), kind=given)
    if not isinstance(given, str):
        check_playable(given)
        name = getattr(given, "name", type(given).__name__)
        return Contender(str(name), ready=given)
    name, options = named_options(given)
    check_options(learner_named(name), options)
    return Contender(name, options)


def contenders(given: Sequence[LearnerSpec]) -> list[Contender]:
    """Make all contenders; each must have a label of its own."""
    if isinstance(given, str):
        given = [given]
    found = [contender(each) for each in given]
    if not found:
        raise ValueError("there are no learners; there must be at least one")
    labels = [each.label for each in found]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"two learners are called {label!r}; give each a different name")
    return found
