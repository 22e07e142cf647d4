"""Measure 13: a round of every other learner against a round of Exp3, in the same engine."""

from collections.abc import Iterator

from belated.learners.contract import PaperLearner
from belated.learners.registry import registered
from benchmarks.measure import Effort, Result, at_most
from benchmarks.measures.duel import duel
from benchmarks.measures.engine_rounds import YARDSTICK

ARMS = 10
MOST = 10.0
FULL, QUICK = (10_000, 2_000), (100, 100)  # rounds to skip, batch
# One computes an integral over the products of all posteriors; another K roots in every round; the
# last learns K losses for each of K policies, on a grid of rates.
DEARER = ("thompson", "d-klucb", "advice")
LIMITS = {"advice-bandit": 4.0}  # with as many policies as arms; for all others MOST


def rivals(effort: Effort) -> Iterator[Result]:
    """Measure 13: time all learners but the paper's, which have measures of their own."""
    for name, kind in registered().items():
        if name == YARDSTICK or issubclass(kind, PaperLearner):
            continue
        goal = None if name in DEARER else at_most(LIMITS.get(name, MOST))
        yield duel(name, YARDSTICK, name, ARMS, effort.choose(FULL, QUICK), effort, goal)
