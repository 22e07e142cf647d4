"""Measures 8 and 12: very many arms, with and without grouping the arms that have no loss yet."""

import functools
from collections.abc import Iterator

from benchmarks.measure import SECONDS, Effort, Result, at_least, at_most
from benchmarks.measures.ask_tell_rounds import OurRounds, World, bandit
from benchmarks.timing import Contestant, Race, race

GROUPED, UNGROUPED = "grouped", "ungrouped"


class Starts:
    """A bandit with and one without grouping, made anew before every turn, which is not timed."""

    def __init__(self, arms: int) -> None:
        self.arms, self.world = arms, World(arms)
        self.rounds: dict[str, OurRounds] = {}

    def make(self) -> None:
        """Make two new bandits."""
        for name in (GROUPED, UNGROUPED):
            self.rounds[name] = OurRounds(bandit(self.arms, name == GROUPED), self.world)

    def play(self, name: str, count: int) -> None:
        """Play rounds of one of the bandits."""
        self.rounds[name](count)

    def race(self, rounds: int, turns: int) -> Race:
        """Time the first rounds of both bandits."""
        both = [
            Contestant(name, functools.partial(self.play, name), rounds)
            for name in (GROUPED, UNGROUPED)
        ]
        return race(both, turns, self.make)


def grouping(effort: Effort) -> Iterator[Result]:
    """Measure 8: rounds of a bandit with many arms, with and without grouping."""
    arms, rounds = effort.choose((10_000, 600), (1_000, 60))
    result = Starts(arms).race(rounds, effort.choose(7, 2))
    yield Result(
        f"ungrouped, {rounds} rounds",
        result.ratio(UNGROUPED, to=GROUPED),
        arms=arms,
        goal=at_least(20.0),
        ours=result.time(GROUPED),
        rival=result.time(UNGROUPED),
    )


def million_arms(effort: Effort) -> Iterator[Result]:
    """Measure 12: rounds of a bandit with a million arms, with and without grouping."""
    arms, rounds = effort.choose((1_000_000, 10), (100_000, 3))
    result = Starts(arms).race(rounds, effort.choose(5, 2))
    ungrouped, grouped = result.time(UNGROUPED), result.time(GROUPED)
    yield Result("ask + tell, ungrouped", ungrouped, SECONDS, arms, at_most(0.06))
    yield Result("ask + tell, grouped", grouped, SECONDS, arms)
