"""The readable loop: plays a learner through a game round by round, in the order of Algorithm 1.

It gives the same results as the compiled loop of `belated.play.engine`, slowly. It also plays the
learners that the compiled loop cannot: the readable learners of `belated.ftrl`, and learners that
users write in plain Python.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.compiled.dispatch import NO_ARM, NOT_TOLD
from belated.environments.missing import NEVER
from belated.learners.contract import Learner
from belated.learners.driver import Driver, PlainDriver, PlayableLearner, driver_for
from belated.numerics.random_stream import draw, seeded
from belated.play.delivery import FeedbackDelivery, on_arrival
from belated.play.game import Game, Stretch
from belated.play.played_weights import check_weights
from belated.play.trace import Recorder, Trace, no_losses, no_weighed_losses
from belated.types import Need, Setting

Choice = Callable[[int, Floats], int]


class RoundRecord(NamedTuple):
    """A finished round: the prediction, the arm played, and all arms' losses and missing counts."""

    round: int
    prediction: Any
    arm: int
    losses: Floats
    missing: NDArray[np.int64]


class Arrival(NamedTuple):
    """A loss that is told at the end of a round, with the round (from 0) and the play it is for."""

    round: int
    arm: int
    play: Any
    loss: float
    missing: int


Order = Callable[[list[Arrival]], list[Arrival]]


def rounds_of(
    driver: Driver | PlainDriver,
    stretches: Iterable[Stretch],
    choose: Choice,
    order: Order = lambda arrivals: arrivals,
) -> Iterator[RoundRecord]:
    """Play all rounds of the stretches, and yield a record of each round.

    `choose` gives the arm of a bandit, from the round (counted from 0) and q. `order` may put the
    losses that arrive at the end of one round into another order.
    """
    learner, bandit = driver.learner, driver.is_bandit
    tells_missing = learner.setting is Setting.PARTIALLY_CONCEALED
    deliver = FeedbackDelivery(learner).deliver if isinstance(learner, Learner) else on_arrival
    arrivals: dict[int, list[Arrival]] = {}
    for stretch in stretches:
        feedback = deliver(stretch)
        for row, (losses, missing) in enumerate(zip(stretch.losses, stretch.missing, strict=True)):
            t = stretch.first + row
            if stretch.advice is not None and takes_advice(learner):
                driver.advise(stretch.advice[row])
            if stretch.contexts is not None and takes_context(learner):
                driver.consider(stretch.contexts[row])
            prediction = driver.predict()
            check_weights(learner, prediction.q, losses.size, t + 1)
            arm = choose(t, prediction.q) if bandit else NO_ARM
            plays = driver.play(arm, known_delay(learner, int(feedback.delays[row, arm])))
            for play, told in zip(plays, [arm] if bandit else range(losses.size), strict=True):
                delay = int(feedback.delays[row, told])
                if delay != NEVER:
                    loss = float(feedback.losses[row, told])
                    absent = int(missing[told]) if tells_missing else NOT_TOLD
                    arrival = Arrival(t, told, play, loss, absent)
                    arrivals.setdefault(t + delay, []).append(arrival)
            for arrival in order(arrivals.pop(t, [])):
                driver.tell(arrival.play, arrival.arm, arrival.loss, arrival.missing)
            yield RoundRecord(t, prediction, arm, losses, missing)


def takes_advice(learner: PlayableLearner) -> bool:
    """Whether a learner is told what policies advise; a plain learner says so by this name."""
    return bool(getattr(learner, "takes_advice", False))


def takes_context(learner: PlayableLearner) -> bool:
    """Whether a learner is told the context of each round; a plain learner says so by this name."""
    return bool(getattr(learner, "takes_context", False))


def known_delay(learner: PlayableLearner, delay: int) -> float:
    """Return the delay that a learner is told when it plays, or NaN if it does not need delays."""
    if isinstance(learner, Learner) and Need.DELAY_AT_DECISION in learner.needs:
        return np.inf if delay == NEVER else delay
    return np.nan


class ReadableRun:
    """A learner's run through a game, stretch by stretch, by the readable loop."""

    def __init__(self, learner: PlayableLearner, game: Game, seed: np.random.SeedSequence) -> None:
        self.learner, self.driver = learner, driver_for(learner)
        self.stream = seeded(seed)
        self.totals = np.zeros(3)
        self.weights = np.zeros(game.environment.arms)
        self.plays = np.zeros(game.environment.arms, dtype=np.int64)
        blank = learner.blank() if isinstance(learner, Learner) else None
        self.strategies, self.weighed = no_losses(blank), no_weighed_losses(blank)
        self.recorder = Recorder(learner, game)
        self.waiting: list[Stretch] = []
        self.records = rounds_of(self.driver, self._next(), self._draw)
        self.last: Any = None

    def play(self, stretch: Stretch) -> None:
        """Play the next stretch of rounds."""
        started = time.perf_counter()
        self.waiting.append(stretch)
        for _ in range(len(stretch.losses)):
            self._add_up(next(self.records))
        self.recorder.seconds += time.perf_counter() - started
        self.recorder.note(stretch.end, self.totals, self.weights, self.last, self.driver.state)

    def close(self) -> Trace:
        """Return the trace of the run, after the last stretch."""
        missing = float(self.totals[2])
        return self.recorder.close(self.last, self.plays, self.strategies, self.weighed, missing)

    def _next(self) -> Iterator[Stretch]:
        while True:
            yield self.waiting.pop()

    def _draw(self, t: int, q: Floats) -> int:
        return draw(self.stream, q)

    def _add_up(self, record: RoundRecord) -> None:
        self.last = record.prediction
        q = np.asarray(self.last.q, dtype=np.float64)
        expected = float(q @ record.losses)
        realised = expected if record.arm < 0 else float(record.losses[record.arm])
        self.totals += [expected, realised, float(q @ record.missing)]
        self.weights += q
        if record.arm >= 0:
            self.plays[record.arm] += 1
        if self.strategies.size:
            lost = self.last.info.strategies @ record.losses
            self.strategies += lost
            if self.weighed.size:
                self.weighed += np.outer(self.last.info.multiples * lost, self.last.eta)


def play(learner: PlayableLearner, game: Game, seed: np.random.SeedSequence) -> Trace:
    """Play a learner through a whole game by the readable loop."""
    run = ReadableRun(learner, game, seed)
    for stretch in game.stretches():
        run.play(stretch)
    return run.close()
