"""Measure 18: a round of the practical learners against one of the paper's, in the same engine."""

from collections.abc import Iterator

from belated.benchmarks.measure import Effort, Result, at_most
from belated.benchmarks.measures.engine_rounds import FULL, QUICK
from belated.benchmarks.timing import race
from belated.benchmarks.workload import Players

ARMS = (10, 1000)
MOST = 1.5


def practical(effort: Effort) -> Iterator[Result]:
    """The bandit against the concealed one; the experts, who are told K losses, against theirs."""
    for arms in ARMS:
        skipped, batch = effort.choose(FULL, QUICK)[arms]
        for name, other in (
            ("practical-bandit", "concealed"),
            ("practical-experts", "full-information"),
        ):
            players = Players([name, other], arms, batch)
            players.skip(skipped)
            both = [players.contestant(name), players.contestant(other)]
            result = race(both, effort.turns, players.draw)
            yield Result(
                other,
                result.ratio(name, to=other),
                arms=arms,
                goal=at_most(MOST) if other == "concealed" else None,
                ours=result.time(name),
                rival=result.time(other),
            )
