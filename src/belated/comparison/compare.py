"""Comparisons: several learners play the same losses and delays, in many repetitions.

In one repetition every learner plays the same game and draws from the same random stream, so that
differences are due to the learners. Repetitions run on all cores, in threads that share the game.
"""

import os
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import TypeGuard

import numpy as np

from belated.analysis.game_sums import GameSums, sum_up
from belated.checks import as_count
from belated.comparison.contenders import Contender, LearnerSpec, contenders
from belated.comparison.result import Comparison
from belated.comparison.run_environment import run_environment_now
from belated.comparison.threads import as_workers, run_in_threads
from belated.compiled.preparing import prepare
from belated.environments.environment import Environment, draws_seed, game_seed
from belated.environments.environment_specs import environment_named
from belated.learners.contract import Learner
from belated.learners.driver import PlayableLearner
from belated.numerics.random_stream import seeded
from belated.play.engine import INTERPRETED_ROUNDS, EngineRun, first_entry_for, first_run
from belated.play.game import Game
from belated.play.readable import ReadableRun
from belated.play.trace import Trace
from belated.types import BelatedWarning

Progress = Callable[[int, int], None]


def compare(
    learners: Sequence[LearnerSpec],
    environment: Environment | str | os.PathLike[str],
    repetitions: int = 10,
    seed: int = 1,
    workers: int | None = None,
    progress: Progress = lambda done, total: None,
) -> Comparison:
    """Play every learner on the same games, and return the comparison.

    Ctrl-C ends the comparison and keeps the repetitions that are complete.

    Args:
        learners: names with options, as "exp3" or "concealed:variant=repaired", or learners.
        environment: an environment, the name of a scenario, or the path of a data file.
        repetitions: the number of games.
        seed: fixes the games; the same seed gives the same numbers.
        workers: the number of threads; by default one for each core.
        progress: called with the number of rounds that were played and their total.

    Example:
        >>> game = scenario("late-best", rounds=100, delay=5)
        >>> result = compare(["practical-experts", "uniform"], game, repetitions=2)
        >>> [round(regret, 1) for regret in result.table().column("regret")]
        [2.5, 28.8]
    """
    chosen = contenders(learners)
    if isinstance(environment, (str, os.PathLike)):
        environment = environment_named(os.fspath(environment))
    if not isinstance(environment, Environment):
        raise TypeError(
            f"environment is a {type(environment).__name__}; it must be an Environment, the name "
            "of a scenario, or the path of a data file"
        )
    repetitions = as_count(repetitions, "repetitions", 1)
    seed = as_count(seed, "seed", 0)
    workers = as_workers(workers)
    threads = _ComparisonThreads(environment, chosen, seed, repetitions, progress)
    interrupted = threads.work(workers)
    done = threads.complete()
    if interrupted:
        if not done:
            raise KeyboardInterrupt
        warnings.warn(
            f"interrupted: {len(done)} of {repetitions} repetitions are complete and kept",
            BelatedWarning,
            stacklevel=2,
        )
    result = Comparison(
        environment=environment,
        contenders=tuple(chosen),
        seed=seed,
        repetitions=tuple(done),
        game_sums=tuple(threads.game_sums[r] for r in done),
        traces=tuple(tuple(threads.traces[r][k] for r in done) for k in range(len(chosen))),
        asked=repetitions,
        run_environment=run_environment_now(),
    )
    for fault in result.faults():
        warnings.warn(fault, BelatedWarning, stacklevel=2)
    return result


class _ComparisonThreads:
    """The threads of one comparison, and the results that they have so far."""

    def __init__(
        self,
        environment: Environment,
        chosen: Sequence[Contender],
        seed: int,
        repetitions: int,
        progress: Progress,
    ) -> None:
        self.environment = environment
        self.chosen = chosen
        self.seed = seed
        self.repetitions = repetitions
        self.progress = progress
        self.total = environment.rounds * len(chosen) * repetitions
        self.rounds = 0
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.game_sums: dict[int, GameSums] = {}
        self.traces: list[dict[int, Trace]] = [{} for _ in range(repetitions)]
        self.games: dict[int, tuple[Game, GameSums]] = {}
        self.game_locks = [threading.Lock() for _ in range(repetitions)]

    def work(self, workers: int) -> bool:
        """Do all jobs; returns whether an interrupt ended the work early."""
        self.prepare()
        return run_in_threads(self.run, self.jobs(workers), workers, self.stop)

    def prepare(self) -> None:
        """Compile the loops of all learners side by side, if there are enough rounds to play."""
        if self.environment.rounds > INTERPRETED_ROUNDS:
            learners = [each.built(self.game(0)[1]) for each in self.chosen]
            loops = [each for each in learners if is_for_the_engine(each)]
            prepare(first_entry_for(first_run(each, seeded(0))) for each in loops)

    def jobs(self, workers: int) -> list[tuple[int, range]]:
        """List the jobs, pairs of a repetition and some learners.

        If there are few repetitions, each job has one learner only, so that all threads have work.
        """
        count = len(self.chosen)
        groups = [range(count)]
        if self.repetitions < 2 * workers:
            groups = [range(k, k + 1) for k in range(count)]
        return [(r, group) for r in range(self.repetitions) for group in groups]

    def run(self, job: tuple[int, range]) -> None:
        """Play some of the learners through the game of one repetition, side by side."""
        repetition, learners = job
        if self.stop.is_set():
            return
        game, sums = self.game(repetition)
        draws = draws_seed(self.seed, repetition)
        runs = [start_run(self.chosen[k].built(sums), game, draws) for k in learners]
        for stretch in game.stretches():
            for run in runs:
                if self.stop.is_set():
                    return
                run.play(stretch)
            self.advance(len(stretch.losses) * len(runs))
        with self.lock:
            self.game_sums[repetition] = sums
            self.traces[repetition] |= {
                k: run.close() for k, run in zip(learners, runs, strict=True)
            }
            if self.environment.random and len(self.traces[repetition]) == len(self.chosen):
                del self.games[repetition]

    def game(self, repetition: int) -> tuple[Game, GameSums]:
        """Return the game of a repetition and its sums; the first thread that asks makes them."""
        number = repetition if self.environment.random else 0
        with self.game_locks[number]:
            if number not in self.games:
                game = Game(self.environment, game_seed(self.seed, number))
                self.games[number] = (game, sum_up(game))
            return self.games[number]

    def advance(self, rounds: int) -> None:
        """Report that this many more rounds have been played."""
        with self.lock:
            self.rounds += rounds
            self.progress(self.rounds, self.total)

    def complete(self) -> list[int]:
        """List the repetitions that every learner has finished."""
        return [r for r, traces in enumerate(self.traces) if len(traces) == len(self.chosen)]


def start_run(
    learner: PlayableLearner, game: Game, draws: np.random.SeedSequence
) -> EngineRun | ReadableRun:
    """Start a run, by the compiled loop or, for a learner in plain Python, by the readable one."""
    arms, needed = getattr(learner, "arms", None), game.environment.arms
    if arms not in (None, needed):
        raise ValueError(f"{type(learner).__name__} is for {arms} arms; the game has {needed}")
    if is_for_the_engine(learner):
        return EngineRun(learner, game, draws)
    return ReadableRun(learner, game, draws)


def is_for_the_engine(learner: PlayableLearner) -> TypeGuard[Learner]:
    """Whether a learner can be compiled: it has a kind of state and verbs."""
    return isinstance(learner, Learner) and hasattr(learner, "state")
