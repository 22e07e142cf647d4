"""Stress: a search for the games in which a learner does worst, by many independent restarts."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from belated.checks import as_count, as_number
from belated.comparison.contenders import Contender, LearnerSpec, contenders
from belated.comparison.table import Table
from belated.stress.annealing import GameSearch
from belated.stress.hard_games import HardGame
from belated.stress.objectives import (
    Objective,
    OverBound,
    OverCertificate,
    OverRival,
    OverRounds,
)
from belated.stress.restart_runner import Progress, RestartRunner

Aim = Literal["bound", "certificate", "regret"]

MOST_ARMS, MOST_ROUNDS = 10_000, 100_000
RESTARTS = 20
OBJECTIVES: dict[Aim, Callable[[Contender], Objective]] = {
    "bound": OverBound,
    "certificate": OverCertificate,
    "regret": OverRounds,
}


@dataclass(frozen=True)
class StressResult:
    """The games that a search has found, the hardest first."""

    search: GameSearch
    hard_games: tuple[HardGame, ...]
    evaluations: int
    interrupted: bool

    def table(self) -> Table:
        """Return a table with a row for each game."""
        return Table.of([found.summary() for found in self.hard_games])

    def save(self, folder: str | Path, most: int = 5) -> list[Path]:
        """Write the hardest games as cases that `belated replay` reads, one file each."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        words = " against ".join(each.label for each in self.search.objective.contenders)
        words += f" {self.search.objective.name} seed {self.search.seed}"
        name = "-".join(re.findall(r"[a-z0-9]+", words.lower()))
        kept = enumerate(self.hard_games[:most], 1)
        return [found.save(folder / f"{name}-{n}.json") for n, found in kept]


def stress(
    learner: LearnerSpec,
    against: LearnerSpec | None = None,
    *,
    arms: int = 4,
    rounds: int = 60,
    objective: Aim = "bound",
    longest_delay: int | None = None,
    restarts: int | None = None,
    seconds: float | None = None,
    steps: int = 1000,
    seed: int = 1,
    workers: int = 1,
    progress: Progress = lambda done, total: None,
) -> StressResult:
    """Search for games that maximise regret over bound, or the lead of another learner.

    For one learner, the objective "certificate" is regret over certificate and "regret" is regret
    per round. With `longest_delay`, no delay is longer than that, but a loss that would arrive
    after the last round is still never told.

    The search ends after `restarts` restarts of `steps` steps, or after `seconds` (20 restarts if
    neither is given), or by an interrupt (Ctrl-C), and keeps the hardest games. `progress` is
    called with the amount of work done and the total. With more than one worker, each is a process
    of its own, and the calling script must guard its main part by `if __name__ == "__main__"`.
    """
    if longest_delay is not None:
        longest_delay = as_count(longest_delay, "longest_delay", 0, MOST_ROUNDS)
    search = GameSearch(
        objective=aimed(learner, against, objective),
        arms=as_count(arms, "arms", 2, MOST_ARMS),
        rounds=as_count(rounds, "rounds", 1, MOST_ROUNDS),
        steps=as_count(steps, "steps", 1),
        seed=as_count(seed, "seed", 0),
        longest_delay=longest_delay,
    )
    if seconds is not None and not as_number(seconds, "seconds") > 0.0:
        raise ValueError(f"seconds is {seconds!r}; it must be above 0")
    if restarts is not None or seconds is None:
        restarts = as_count(RESTARTS if restarts is None else restarts, "restarts", 1)
    workers = as_count(workers, "workers", 1)
    if why := search.why_not():
        raise ValueError(f"there is nothing to search for: {why}")
    crew = RestartRunner(search, restarts, seconds, progress)
    try:
        crew.alone() if workers == 1 else crew.together(workers)
    except KeyboardInterrupt:
        if not crew.hard_games:
            raise
        crew.interrupted = True
    hard_games = sorted(crew.hard_games, key=lambda found: (-found.ranking, found.restart))
    return StressResult(search, tuple(hard_games), crew.evaluations, crew.interrupted)


def aimed(learner: LearnerSpec, against: LearnerSpec | None, aim: Aim) -> Objective:
    """Return the objective that the search maximises."""
    if against is not None:
        return OverRival(*contenders([learner, against]))
    (chosen,) = contenders([learner])
    if aim not in get_args(Aim):
        raise ValueError(f"objective is {aim!r}; it must be 'bound', 'certificate' or 'regret'")
    return OBJECTIVES[aim](chosen)
