"""A round of one learner against a round of another, in the same engine."""

from benchmarks.measure import Effort, Goal, Result
from benchmarks.timing import race
from benchmarks.workload import Players


def duel(
    name: str,
    rival: str,
    label: str,
    arms: int,
    rounds: tuple[int, int],
    effort: Effort,
    goal: Goal | None,
) -> Result:
    """Return the ratio of the times of two learners that play the same batches in turns.

    `rounds` has the number of rounds to skip first, and the number in a batch.
    """
    skipped, batch = rounds
    players = Players([name, rival], arms, batch)
    players.skip(skipped)
    both = [players.contestant(name), players.contestant(rival)]
    result = race(both, effort.turns, players.draw)
    return Result(
        label,
        result.ratio(name, to=rival),
        arms=arms,
        goal=goal,
        ours=result.time(name),
        rival=result.time(rival),
    )
