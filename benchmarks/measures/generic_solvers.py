"""Measure 4: a partially concealed round against generic solvers on the same argmin."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from benchmarks.measure import Effort, Result, at_least
from benchmarks.peers import SOLVERS
from benchmarks.peers.peer import Argmin, Solve
from benchmarks.timing import Contestant, race
from benchmarks.workload import Players

LEARNER = "partially-concealed"
GOALS = {"cvxpy+Clarabel": 10_000.0, "cvxopt": 5_000.0}
SOLVED = {10: 10, 100: 3}  # the number of argmins in a turn; each takes milliseconds


class SolvedRound(NamedTuple):
    """A round of our learner: the inputs of its argmin, and its solution."""

    losses: Floats
    eta: float
    q: Floats


def solved_rounds(players: Players, count: int) -> list[SolvedRound]:
    """Return rounds of a run, one after each batch."""
    found = []
    for _ in range(count):
        players.skip(1)
        run = players.runs[LEARNER]
        prediction = run.learner.predict(run.run.state)
        losses = run.learner.losses(run.run.state)
        found.append(SolvedRound(losses, float(prediction.eta[0]), prediction.q))
    return found


def argmin_of(players: Players) -> Argmin:
    """Return the part of the argmin that all rounds share."""
    run = players.runs[LEARNER]
    state = run.run.state
    prior = np.exp(state.columns.log_prior[:, None] + state.columns.log_weight)
    return Argmin(prior, run.learner.predict(state).gamma)


def solving(solve: Solve, found: Sequence[SolvedRound]) -> Callable[[int], None]:
    """Return a function that solves a number of argmins, those of the rounds in turn."""
    turning = itertools.cycle(found)

    def work(count: int) -> None:
        for each in itertools.islice(turning, count):
            solve(each.losses, each.eta)

    return work


def against_solvers(effort: Effort) -> Iterator[Result]:
    """Measure 4: our time is that of a whole round in the game, theirs of the argmin only."""
    for arms, solved in SOLVED.items():
        players = Players([LEARNER], arms, effort.choose(2_000, 200))
        players.skip(effort.choose(10_000, 400))
        found = solved_rounds(players, effort.choose(6, 2))
        contestants = [players.contestant(LEARNER)]
        for peer in SOLVERS:
            if peer.presence.usable and peer.solver is not None:
                work = solving(peer.solver(argmin_of(players)), found)
                contestants.append(Contestant(peer.name, work, effort.choose(solved, 1)))
        result = race(contestants, effort.turns, players.draw)
        for rival in contestants[1:]:
            yield Result(
                rival.name,
                result.ratio(rival.name, to=LEARNER),
                arms=arms,
                goal=at_least(GOALS[rival.name]),
                ours=result.time(LEARNER),
                rival=result.time(rival.name),
            )
