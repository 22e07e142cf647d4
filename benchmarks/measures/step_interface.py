"""Measure 5: ask and tell against the bandits that people use today."""

from collections.abc import Iterator

from benchmarks.measure import Effort, Goal, Result, at_least
from benchmarks.measures.ask_tell_rounds import OurRounds, TheirRounds, World, bandit
from benchmarks.peers import BANDITS
from benchmarks.timing import race, sized

OURS = "belated"
GOALS = {("river Exp3", 10): 1.5, ("river Exp3", 100): 8.0, ("river Exp3", 1000): 30.0}
FOR_INFORMATION = 2  # with this number of arms there is no goal


def against_bandits(effort: Effort) -> Iterator[Result]:
    """Measure 5: time a decision and its update, by all contestants in turns."""
    seconds = effort.choose(0.02, 0.001)
    for arms in effort.choose((FOR_INFORMATION, 10, 100, 1000), (FOR_INFORMATION, 10)):
        world = World(arms)
        ours = OurRounds(bandit(arms), world)
        ours(effort.choose(2_000, 50))  # skips the first rounds, which are harder to solve
        contestants = [sized(OURS, ours, seconds)]
        for peer in BANDITS:
            if peer.presence.usable:
                for name, make in peer.policies().items():
                    contestants.append(sized(name, TheirRounds(make(arms), world), seconds))
        result = race(contestants, effort.turns)
        for rival in contestants[1:]:
            yield Result(
                rival.name,
                result.ratio(rival.name, to=OURS),
                arms=arms,
                goal=goal_against(rival.name, arms),
                ours=result.time(OURS),
                rival=result.time(rival.name),
            )


def goal_against(name: str, arms: int) -> Goal | None:
    """Return the goal: to be faster than every peer, and than river's Exp3 by a margin."""
    return None if arms == FOR_INFORMATION else at_least(GOALS.get((name, arms), 1.0))
