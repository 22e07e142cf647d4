"""The readable loop: a learner through a game, round by round, in the order of Algorithm 1.

It is the slow twin of the compiled game, and runs what that cannot: the readable learners of
`belated.ftrl`, and learners that users write in plain Python.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.environments.missing import NEVER
from belated.learners.contract import Learner
from belated.numerics.random_stream import draw, seeded
from belated.play.delivery import Courier, as_it_comes
from belated.play.game import Game, Stretch
from belated.play.trace import Recorder, Trace, no_losses
from belated.types import Need, Setting

Choice = Callable[[int, Floats], int]
UNTOLD = -1


class Plays(Protocol):
    """What a learner must do to play: its state, its three verbs, and weights q in a prediction.

    `commit` answers with one play for each loss that will be told, K of them in full information.
    """

    @property
    def setting(self) -> Setting: ...

    def start(self) -> Any: ...

    def predict(self, state: Any) -> Any: ...

    def commit(self, state: Any, prediction: Any, arm: int) -> Any: ...

    def observe(self, state: Any, play: Any, arm: int, loss: float, missing: int) -> None: ...


class Moment(NamedTuple):
    """The end of a round: what was predicted and played, and what everybody lost or missed."""

    round: int
    prediction: Any
    arm: int
    losses: Floats
    missing: NDArray[np.int64]


def rounds_of(
    learner: Plays, state: Any, stretches: Iterable[Stretch], choose: Choice
) -> Iterator[Moment]:
    """Play round after round; `choose` gives the arm of a bandit, from the 0-based round and q."""
    bandit = learner.setting is not Setting.FULL_INFORMATION
    tells_missing = learner.setting is Setting.PARTIALLY_CONCEALED
    hand = Courier(learner).hand if isinstance(learner, Learner) else as_it_comes
    arrivals: dict[int, list[tuple[Any, int, float, int]]] = {}
    for stretch in stretches:
        handed = hand(stretch)
        for row, (losses, missing) in enumerate(zip(stretch.losses, stretch.missing, strict=True)):
            t = stretch.first + row
            if isinstance(learner, Learner):
                state = learner.reserved(state, 1)
            prediction = learner.predict(state)
            arm = choose(t, prediction.q) if bandit else -1
            plays = committed(learner, state, prediction, arm, int(handed.delays[row, arm]))
            for play, told in zip(plays, [arm] if bandit else range(losses.size), strict=True):
                delay = int(handed.delays[row, told])
                if delay != NEVER:
                    absent = int(missing[told]) if tells_missing else UNTOLD
                    loss = (play, told, float(handed.losses[row, told]), absent)
                    arrivals.setdefault(t + delay, []).append(loss)
            for arrived in arrivals.pop(t, ()):
                learner.observe(state, *arrived)
            yield Moment(t, prediction, arm, losses, missing)


def committed(learner: Plays, state: Any, prediction: Any, arm: int, delay: int) -> Any:
    """The plays of a round; the delay is told to those who declare that they must know it."""
    if isinstance(learner, Learner) and Need.DELAY_AT_DECISION in learner.needs:
        return learner.commit(state, prediction, arm, np.inf if delay == NEVER else delay)
    return learner.commit(state, prediction, arm)


class ReadableRun:
    """A learner's run through a game, stretch by stretch, by the readable loop."""

    def __init__(self, learner: Plays, game: Game, seed: np.random.SeedSequence) -> None:
        self.learner, self.state = learner, learner.start()
        self.stream = seeded(seed)
        self.totals = np.zeros(3)
        self.weights = np.zeros(game.environment.arms)
        self.plays = np.zeros(game.environment.arms, dtype=np.int64)
        self.strategies = no_losses(learner.blank() if isinstance(learner, Learner) else None)
        self.recorder = Recorder(learner, game)
        self.waiting: list[Stretch] = []
        self.moments = rounds_of(learner, self.state, self._next(), self._draw)
        self.last: Any = None

    def play(self, stretch: Stretch) -> None:
        """Play on through the next stretch."""
        started = time.perf_counter()
        self.waiting.append(stretch)
        for _ in range(len(stretch.losses)):
            self._add_up(next(self.moments))
        self.recorder.seconds += time.perf_counter() - started
        self.recorder.note(stretch.end, self.totals, self.weights, self.last)

    def close(self) -> Trace:
        """The trace, after the last stretch."""
        missing = float(self.totals[2])
        return self.recorder.close(self.last, self.plays, self.strategies, missing)

    def _next(self) -> Iterator[Stretch]:
        while True:
            yield self.waiting.pop()

    def _draw(self, t: int, q: Floats) -> int:
        return draw(self.stream, q)

    def _add_up(self, moment: Moment) -> None:
        self.last = moment.prediction
        q = np.asarray(self.last.q, dtype=np.float64)
        if q.shape != self.weights.shape:
            name = type(self.learner).__name__
            raise ValueError(
                f"{name} gives weights of shape {q.shape}; there must be one for each arm, "
                f"{self.weights.size}"
            )
        expected = float(q @ moment.losses)
        realised = expected if moment.arm < 0 else float(moment.losses[moment.arm])
        self.totals += [expected, realised, float(q @ moment.missing)]
        self.weights += q
        if moment.arm >= 0:
            self.plays[moment.arm] += 1
        if self.strategies.size:
            self.strategies += self.last.info.strategies @ moment.losses


def play(learner: Plays, game: Game, seed: np.random.SeedSequence) -> Trace:
    """Run a learner through a whole game."""
    run = ReadableRun(learner, game, seed)
    for stretch in game.stretches():
        run.play(stretch)
    return run.close()
