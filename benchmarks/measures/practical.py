"""Measure 18: a round of the practical learners against one of the paper's, in the same engine."""

from collections.abc import Iterator

from benchmarks.measure import Effort, Result, at_most
from benchmarks.measures.duel import duel
from benchmarks.measures.engine_rounds import FULL, QUICK

ARMS = (10, 1000)
MOST = 1.5


def practical(effort: Effort) -> Iterator[Result]:
    """Measure 18: the practical bandit against concealed, and experts against full information."""
    for arms in ARMS:
        rounds = effort.choose(FULL, QUICK)[arms]
        for name, rival, goal in (
            ("practical-bandit", "concealed", at_most(MOST)),
            ("practical-experts", "full-information", None),
        ):
            yield duel(name, rival, rival, arms, rounds, effort, goal)
