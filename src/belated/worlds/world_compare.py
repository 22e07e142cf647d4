"""Plays learners on many worlds, on all cores, and keeps what is complete on Ctrl-C.

Every learner plays the same games of a world and draws from the same random stream. Uniform play's
regret need not be played: it is the mean loss of all arms minus that of the best.
"""

import functools
import threading
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from belated.analysis.game_sums import DelayStatistics, GameSums, sum_up
from belated.analysis.waiting import Waits
from belated.arrays import Floats
from belated.checks import as_count
from belated.comparison.compare import is_for_the_engine, start_run
from belated.comparison.contenders import Contender, LearnerSpec, contenders
from belated.comparison.threads import as_workers, run_in_threads
from belated.compiled.entries import obtain
from belated.compiled.preparing import prepare
from belated.environments.environment import DRAWS, GAME, branch
from belated.numerics.random_stream import seeded
from belated.play.engine import first_entry_for, first_run
from belated.play.game import Game, entry_for_counting
from belated.types import BelatedWarning, Delivery
from belated.worlds.named_worlds import World, WorldSet, draw_worlds, world
from belated.worlds.world_result import WorldComparison, WorldRuns

Progress = Callable[[int, int], None]


def compare(
    learners: Sequence[LearnerSpec],
    worlds: int | Sequence[str] = 200,
    seed: int = 1,
    world_set: WorldSet = "design",
    only: Sequence[str] = (),
    games: int = 10,
    workers: int | None = None,
    progress: Progress = lambda done, total: None,
) -> WorldComparison:
    """Play every learner on the same games of many worlds.

    `worlds` is how many are drawn with the seed from a set, of all its families or of those in
    `only`; or it is a list of names. `progress` is called with the number of rounds that are over
    and their total. An interrupt (Ctrl-C) keeps the worlds that are complete.
    """
    chosen = contenders(learners)
    names = draw_worlds(worlds, seed, world_set, only) if isinstance(worlds, int) else worlds
    drawn = [world(name) for name in names]
    games = as_count(games, "games", 1)
    threads = _WorldThreads(drawn, chosen, games, progress)
    threads.prepare()
    interrupted = threads.work(as_workers(workers))
    done = threads.complete()
    if interrupted and len(done) < len(drawn):
        if not done:
            raise KeyboardInterrupt
        warnings.warn(
            f"interrupted: {len(done)} of {len(drawn)} worlds are complete and kept",
            BelatedWarning,
            stacklevel=2,
        )
    return WorldComparison(tuple(each.label for each in chosen), tuple(done), len(drawn))


class GameToPlay:
    """What learners are told of a game before it, summed up only if one of them must know it."""

    def __init__(self, game: Game) -> None:
        environment = game.environment
        self.game = game
        self.arms, self.rounds = environment.arms, environment.rounds
        self.prior: Floats = np.full(self.arms, 1.0 / self.arms)
        self.policies, self.features = environment.policies, environment.features
        self.default_loss = environment.default_loss

    @functools.cached_property
    def sums(self) -> GameSums:
        """All sums of the game."""
        return sum_up(self.game)

    def told(self, delivery: Delivery, window: int | None) -> tuple[Waits, DelayStatistics]:
        """Return the waits and delays of a learner with this delivery, or with this window."""
        return self.sums.told(delivery, window)


class _WorldThreads:
    """The threads that play worlds, and the regrets that they have so far."""

    def __init__(
        self,
        worlds: Sequence[World],
        chosen: Sequence[Contender],
        games: int,
        progress: Progress,
    ) -> None:
        self.worlds = worlds
        self.chosen = chosen
        self.games = games
        self.progress = progress
        self.total = sum(each.environment.rounds for each in worlds) * games
        self.rounds = 0
        self.stop = threading.Event()
        self.lock = threading.Lock()
        shape = (len(worlds), games)
        self.uniform = np.full(shape, np.nan)
        self.regrets = np.full((*shape, len(chosen)), np.nan)

    def prepare(self) -> None:
        """Compile the loops of all learners side by side."""
        first = min(self.worlds, key=lambda each: each.environment.rounds * each.environment.arms)
        game = Game(first.environment, first.seed(0), most_checkpoints=1)
        learners = [each.built(GameToPlay(game)) for each in self.chosen]
        loops = [each for each in learners if is_for_the_engine(each)]
        first_loops = (first_entry_for(first_run(each, seeded(0))) for each in loops)
        entries = [entry_for_counting(), *first_loops]
        prepare(entries)
        for entry in entries:
            obtain(entry)

    def work(self, workers: int) -> bool:
        """Play all games of all worlds; returns whether an interrupt ended the work early."""
        jobs = [(w, game) for w in range(len(self.worlds)) for game in range(self.games)]
        return run_in_threads(self.run, jobs, workers, self.stop)

    def run(self, job: tuple[int, int]) -> None:
        """Play all learners through one game of a world."""
        number, repetition = job
        if self.stop.is_set():
            return
        here = self.worlds[number]
        seed = here.seed(repetition)
        game = Game(here.environment, branch(seed, GAME), most_checkpoints=1)
        known = GameToPlay(game)
        runs = [start_run(each.built(known), game, branch(seed, DRAWS)) for each in self.chosen]
        by_arm = np.zeros(here.environment.arms)
        for stretch in game.stretches():
            by_arm += stretch.losses.sum(axis=0)
            for run in runs:
                if self.stop.is_set():
                    return
                run.play(stretch)
        lost: Floats = np.array([run.close().loss for run in runs])
        with self.lock:
            self.regrets[job] = lost - by_arm.min()
            self.uniform[job] = by_arm.mean() - by_arm.min()
            self.rounds += here.environment.rounds
            self.progress(self.rounds, self.total)

    def complete(self) -> list[WorldRuns]:
        """Return the regrets in all worlds whose games are all over."""
        return [
            WorldRuns(each, self.uniform[w], self.regrets[w].T)
            for w, each in enumerate(self.worlds)
            if not np.isnan(self.uniform[w]).any()
        ]
