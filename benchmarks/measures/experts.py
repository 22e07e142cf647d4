"""Measure 6: a full-information round against a step of PoolD."""

from collections.abc import Callable, Iterator

import numpy as np

from belated.arrays import Floats
from benchmarks.measure import Effort, Goal, Result, at_least
from benchmarks.peers import EXPERTS
from benchmarks.peers.peer import Step
from benchmarks.timing import race, sized
from benchmarks.workload import SEED, Players, means_of

LEARNER = "full-information"
GOALS = {
    ("PoolD DORM+", 10): 100.0,
    ("PoolD AdaHedgeD", 10): 500.0,
    ("PoolD DORM+", 1000): 25.0,
    ("PoolD AdaHedgeD", 1000): 25.0,
}


def stepping(step: Step, losses: Floats) -> Callable[[int], None]:
    """Return a function that takes a number of steps, through the rows of losses in a cycle."""
    played = 0

    def work(count: int) -> None:
        nonlocal played
        for now in range(played, played + count):
            step(losses[now % len(losses)])
        played += count

    return work


def against_experts(effort: Effort) -> Iterator[Result]:
    """Measure 6: our rounds have a delay for each expert, PoolD's the same short delay for all."""
    for arms in effort.choose((10, 1000), (10,)):
        players = Players([LEARNER], arms, effort.choose({10: 5_000, 1000: 400}[arms], 100))
        players.skip(effort.choose({10: 20_000, 1000: 4_000}[arms], 200))
        draws = np.random.default_rng(SEED).random((500, arms))
        losses = (draws < means_of(arms)).astype(np.float64)
        contestants = [players.contestant(LEARNER)]
        for peer in EXPERTS:
            if peer.presence.usable:
                for name, make in peer.learners().items():
                    work = stepping(make(arms), losses)
                    contestants.append(sized(name, work, effort.choose(0.04, 0.005)))
        result = race(contestants, effort.turns, players.draw)
        for rival in contestants[1:]:
            yield Result(
                rival.name,
                result.ratio(rival.name, to=LEARNER),
                arms=arms,
                goal=goal_against(rival.name, arms),
                ours=result.time(LEARNER),
                rival=result.time(rival.name),
            )


def goal_against(name: str, arms: int) -> Goal | None:
    """Return the goal against a learner of PoolD's, or None for DUB, which is for information."""
    limit = GOALS.get((name, arms))
    return None if limit is None else at_least(limit)
