"""Random games with a learner, found by hypothesis, and the laws that are tried in them."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from hypothesis import strategies as st

from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER, missing_counts
from belated.learners.contract import Learner
from belated.learners.driver import PlayableLearner, driver_for
from belated.play.game import Stretch
from belated.play.readable import Arrival, rounds_of
from belated.types import VARIANTS, Setting

Kind = type[PlayableLearner]
Arrivals = list[Arrival]
CLOSE = 1e-12
MOST_ROUNDS = 12


class LawBrokenError(AssertionError):
    """Raised by a law when a learner breaks it; the message says what happened."""


@dataclass(frozen=True)
class RandomGame:
    """A learner's options, and the losses, delays and plays it is led through."""

    kind: Any
    options: dict[str, Any]
    losses: Floats
    delays: Counts
    arms: Counts

    @property
    def is_bandit(self) -> bool:
        """Whether one arm is played in a round."""
        return setting_of(self.kind) is not Setting.FULL_INFORMATION

    @property
    def tells_missing(self) -> bool:
        """Whether missing counts are told with the losses."""
        return setting_of(self.kind) is Setting.PARTIALLY_CONCEALED

    def learner(self) -> Any:
        """The learner with its options."""
        return self.kind(**self.options)

    def but(self, **changes: Any) -> "RandomGame":
        """A copy with some parts changed."""
        return dataclasses.replace(self, **changes)

    def __str__(self) -> str:
        """The game in one line, for a person that wants to play it again."""
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        delays = [[None if d == NEVER else d for d in row] for row in self.delays.tolist()]
        plays = f", plays {self.arms.tolist()}" if self.is_bandit else ""
        return f"options {options}; losses {self.losses.tolist()}, delays {delays}{plays}"


Play = Callable[..., Floats]


def setting_of(kind: Kind) -> Setting:
    """The setting of a learner class, which may be known only when a learner is made."""
    declared = getattr(kind, "setting", None)
    return declared if isinstance(declared, Setting) else cast(Any, kind)(arms=2).setting


def has(kind: Kind, field: str) -> bool:
    """Whether a learner class has an option of this name."""
    return dataclasses.is_dataclass(kind) and field in {f.name for f in dataclasses.fields(kind)}


def demand(condition: object, sentence: str) -> None:
    """Say that a law is broken unless a condition holds."""
    if not condition:
        raise LawBrokenError(sentence)


class Trial:
    """One try of a law: a learner class, what hypothesis chooses, and how games are played.

    `play` returns the weights of every round of a game, as `played` does. Results that may differ
    by rounding must differ by no more than `close`; games have no more than `most_rounds` rounds.
    """

    def __init__(
        self,
        kind: Kind,
        data: st.DataObject,
        play: Play | None = None,
        close: float = CLOSE,
        most_rounds: int = MOST_ROUNDS,
    ) -> None:
        self.kind, self.draw, self.close, self.most_rounds = kind, data.draw, close, most_rounds
        self.play = played if play is None else play
        self.game: RandomGame | None = None

    def a_game(self, **fixed: Any) -> RandomGame:
        """A random game; options that are given are not drawn."""
        self.game = self.draw(games(self.kind, **{"most_rounds": self.most_rounds, **fixed}))
        return self.game

    def demand_close(self, one: Floats, other: Floats, what: str) -> None:
        """Demand that two arrays of weights are equal but for rounding."""
        apart = float(np.abs(one - other).max(initial=0.0))
        demand(apart <= self.close, f"{what}: weights differ by {apart:.3g}")

    def demand_equal(self, one: Floats, other: Floats, what: str) -> None:
        """Demand that two arrays of weights are equal to the last bit."""
        if one.tobytes() != other.tobytes():
            apart = np.flatnonzero((one != other).any(axis=1))
            where = f" from round {apart[0] + 1} on" if apart.size else " in their signs"
            raise LawBrokenError(f"{what}: weights differ{where}")


class LearnerLaw(NamedTuple):
    """A law, in words and as a function; it is about the learners of which `applies` is true."""

    sentence: str
    check: Callable[[Trial], None]
    applies: Callable[[Kind], bool]

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.check.__name__


class Laws(list[LearnerLaw]):
    """A list of laws, to which the decorator `law` adds functions."""

    def law(
        self, sentence: str, applies: Callable[[Kind], bool] = lambda kind: True
    ) -> Callable[[Callable[[Trial], None]], Callable[[Trial], None]]:
        """Add a function as a law."""

        def add(check: Callable[[Trial], None]) -> Callable[[Trial], None]:
            self.append(LearnerLaw(sentence, check, applies))
            return check

        return add


def is_whole(kind: Kind) -> bool:
    """Whether a learner has all that a `Learner` has, and not only what it needs to play."""
    return issubclass(kind, Learner)


@st.composite
def games(
    draw: st.DrawFn, /, kind: Kind, most_arms: int = 4, most_rounds: int = MOST_ROUNDS, **fixed: Any
) -> RandomGame:
    """Random games; `fixed` options are not drawn."""
    arms = draw(st.integers(1, most_arms), "arms")
    rounds = draw(st.integers(1, most_rounds), "rounds")
    told = {"horizon": [1, 1, 10, 1000], "total_delay": [0, 1, 5, 100]}
    chosen = {
        "variant": VARIANTS,
        "max_missing": [0, 1, 3, 50],
        "max_delay": [0, 1, 5, 50],
        "mean_delay": [0.0, 0.5, 7.0],
        "delay_law": [(1.0,), (0.5, 0.5, 0.75), (0.1, 0.2, 0.3, 1.0)],
        "tail_index": [0.1, 0.5, 3.0],
        "features": [0, 1, 3],
        "interactions": [1, 2],
    }
    options: dict[str, Any] = {"arms": arms}
    options |= {
        name: rounds * draw(st.sampled_from(told[name])) for name in told if has(kind, name)
    }
    options |= {name: draw(st.sampled_from(chosen[name])) for name in chosen if has(kind, name)}
    if has(kind, "prior"):
        parts = draw(st.none() | st.lists(st.integers(1, 20), min_size=arms, max_size=arms))
        options["prior"] = parts and [part / sum(parts) for part in parts]
    if has(kind, "skipping") and options.get("variant") == "repaired":
        options["skipping"] = draw(st.booleans())
    options |= fixed
    loss = st.sampled_from([0.0, 1.0]) | st.floats(0.0, 1.0)
    delay = st.sampled_from([0, 0, 1, 2, 5, rounds, NEVER])
    table = st.lists(st.lists(loss, min_size=arms, max_size=arms), min_size=rounds, max_size=rounds)
    waits = st.lists(
        st.lists(delay, min_size=arms, max_size=arms), min_size=rounds, max_size=rounds
    )
    plays = st.lists(st.integers(0, arms - 1), min_size=rounds, max_size=rounds)
    return RandomGame(
        kind,
        options,
        np.array(draw(table, "losses"), dtype=np.float64),
        np.array(draw(waits, "delays"), dtype=np.int64),
        np.array(draw(plays, "plays"), dtype=np.int64),
    )


@st.composite
def games_like(draw: st.DrawFn, game: RandomGame) -> RandomGame:
    """Another game of the same size with the same learner."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = game.losses.shape
    return game.but(
        losses=random.random(shape),
        delays=random.integers(NEVER, 6, shape),
        arms=random.integers(0, shape[1], shape[0]),
    )


def whole_game(losses: Floats, delays: Counts, contexts: Floats | None = None) -> Stretch:
    """A game of these losses and delays, and contexts if there are any, in one stretch."""
    missing = missing_counts(delays)
    return Stretch(0, len(losses), losses, delays, missing, contexts=contexts)


def contexts_for(learner: PlayableLearner, rounds: int) -> Floats | None:
    """Contexts for a learner that takes some: numbers, signs, and numbers that are not known."""
    if not getattr(learner, "takes_context", False):
        return None
    width = learner.encoder.width  # type: ignore[attr-defined]
    numbers, gaps = np.random.default_rng(width), np.random.default_rng(width + 1)
    contexts = numbers.normal(3.0, 2.0, (rounds, width))
    contexts[:, 1::2] = contexts[:, 1::2] > 3.0
    contexts[gaps.random(contexts.shape) < 0.1] = np.inf
    return contexts


class Watcher:
    """Looks at a game while it is played; this one sees nothing."""

    def before(self, learner: Any, state: Any, round_: int) -> None:
        """Look at the state before a round is predicted; rounds are from 0."""

    def after(self, learner: Any, prediction: Any, round_: int) -> None:
        """Look at the prediction of a round that was played."""


def played(
    game: RandomGame,
    order: Callable[[Arrivals], Arrivals] = lambda arrivals: arrivals,
    each_round: Callable[[Any, Any], None] = lambda learner, state: None,
    start: Any = None,
    watcher: Watcher | None = None,
) -> Floats:
    """q_t in row t-1; `order` shuffles what arrives at the end of one round."""
    learner, watching = game.learner(), watcher or Watcher()
    driver = driver_for(learner, start)

    def ordered(arrivals: Arrivals) -> Arrivals:
        shuffled = order(arrivals)
        if getattr(learner, "delivery", "own") == "in order":
            return sorted(shuffled, key=lambda arrival: (arrival.round, arrival.arm))
        return shuffled

    stretch = whole_game(game.losses, game.delays, contexts_for(learner, len(game.losses)))
    rounds = rounds_of(driver, [stretch], lambda t, q: int(game.arms[t]), ordered)
    q = np.empty_like(game.losses)
    for t in range(len(q)):
        each_round(learner, driver.state)
        watching.before(learner, driver.state, t)
        prediction = next(rounds).prediction
        q[t] = prediction.q
        watching.after(learner, prediction, t)
    return q
