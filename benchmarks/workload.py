"""The game that all measures share, and runs of learners through it, batch by batch.

The losses are Bernoulli with means spread over the arms, and each arm has a constant delay of its
own below 50 rounds. Drawing the game is never timed.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from belated.environments.delays import Constant, PerArm
from belated.environments.environment import DelayProcess, Environment
from belated.environments.losses import Bernoulli
from belated.learners.contract import Learner
from belated.learners.needs import needed_options
from belated.learners.registry import registered
from belated.play.engine import EngineRun
from belated.play.game import Game, Stretch
from belated.types import Need
from benchmarks.timing import Contestant

HORIZON = 100_000  # gives a grid of nine rates
MAX_MISSING = 50
SEED = 1


def means_of(arms: int) -> list[float]:
    """Return the mean losses of the arms, evenly spaced from 0.2 to 0.8."""
    return [float(mean) for mean in np.linspace(0.2, 0.8, arms)]


def delays_of(arms: int) -> list[int]:
    """Return the delays of the arms, from 0 to 49 and unrelated to the means."""
    return [7 * i % MAX_MISSING for i in range(arms)]


def game_of(arms: int, rounds: int = HORIZON, delay: int | None = None) -> Game:
    """Make the game; if a delay is given, every arm has it."""
    delays: DelayProcess = PerArm(delays_of(arms)) if delay is None else Constant(delay)
    environment = Environment("benchmark", Bernoulli(means_of(arms)), delays, rounds)
    return Game(environment, np.random.SeedSequence(SEED))


def learner_of(name: str, arms: int, max_missing: int = MAX_MISSING) -> Learner:
    """Make a registered learner with what it must know about the game."""
    kind = registered()[name]
    facts: dict[Need, Any] = {
        Need.HORIZON: HORIZON,
        Need.MAX_MISSING: max_missing,
        Need.TOTAL_DELAY: HORIZON * max_missing,
        Need.MAX_DELAY: MAX_MISSING - 1,
        Need.MEAN_DELAY: 0.5 * MAX_MISSING,
        Need.DELAY_LAW: tuple((x + 1) / MAX_MISSING for x in range(MAX_MISSING)),
        Need.TAIL_INDEX: 0.5,
    }
    return kind(arms=arms, **needed_options(kind, facts.__getitem__, given={}))


def engine_run(learner: Learner, game: Game) -> EngineRun:
    """Make the run of a learner before the first round of the game."""
    return EngineRun(learner, game, np.random.SeedSequence(SEED))


def long_stretches(game: Game, rounds: int) -> Iterator[Stretch]:
    """Yield the game in stretches of `rounds` rounds, longer than those of `Game.stretches`.

    The work that the engine does once per stretch is then negligible.
    """
    waiting: list[Stretch] = []
    for stretch in game.stretches():
        waiting.append(stretch)
        held = sum(len(each.losses) for each in waiting)
        while held >= rounds:
            whole = joined(waiting)
            yield part_of(whole, 0, rounds)
            held -= rounds
            waiting = [part_of(whole, rounds, rounds + held)]


def joined(stretches: list[Stretch]) -> Stretch:
    """Join consecutive stretches into one."""
    return stretches[0]._replace(
        losses=np.concatenate([each.losses for each in stretches]),
        delays=np.concatenate([each.delays for each in stretches]),
        missing=np.concatenate([each.missing for each in stretches]),
    )


def part_of(stretch: Stretch, start: int, end: int) -> Stretch:
    """Return some rounds of a stretch."""
    return stretch._replace(
        first=stretch.first + start,
        losses=stretch.losses[start:end],
        delays=stretch.delays[start:end],
        missing=stretch.missing[start:end],
    )


class Players:
    """Learners that play one game side by side, a batch of rounds at a time."""

    def __init__(self, names: list[str], arms: int, batch: int) -> None:
        game = game_of(arms)
        self.batch = batch
        self.runs = {name: engine_run(learner_of(name, arms), game) for name in names}
        self._stretches = long_stretches(game, batch)

    def skip(self, rounds: int) -> None:
        """Let all learners play the first rounds without timing them."""
        for _ in range(-(-rounds // self.batch)):
            self.draw()
            for run in self.runs.values():
                run.play(self._stretch)

    def draw(self) -> None:
        """Draw the next batch."""
        self._stretch = next(self._stretches)

    def contestant(self, name: str) -> Contestant:
        """Return one of the learners as a contestant that plays the batch drawn last."""
        run = self.runs[name]
        return Contestant(name, lambda rounds: run.play(self._stretch), self.batch)
