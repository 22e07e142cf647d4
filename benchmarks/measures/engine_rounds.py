"""Measures 1 to 3, and 18: a whole simulated round against another learner's in the same engine.

The paper's learners play beside Exp3, the practical learners beside those of the paper.
"""

from collections.abc import Iterator, Mapping

from benchmarks.measure import Effort, Result, at_most
from benchmarks.measures.duel import duel

YARDSTICK = "exp3"
FULL = {10: (20_000, 5_000), 100: (10_000, 2_000), 1000: (4_000, 400)}  # rounds to skip, batch
QUICK = {10: (1_000, 500), 100: (400, 200), 1000: (100, 50)}
PRACTICAL_ARMS = (10, 1000)
MOST = 1.5  # the practical bandit beside concealed


def against_exp3(name: str, goals: Mapping[int, float], effort: Effort) -> Iterator[Result]:
    """The learner and Exp3 play the same batches of rounds in turns."""
    for arms, goal in goals.items():
        rounds = effort.choose(FULL, QUICK)[arms]
        yield duel(name, YARDSTICK, "Exp3", arms, rounds, effort, at_most(goal))


def concealed(effort: Effort) -> Iterator[Result]:
    """Measure 1: a round of the concealed bandit against a round of Exp3."""
    return against_exp3("concealed", {10: 3.0, 100: 3.0, 1000: 3.0}, effort)


def partially_concealed(effort: Effort) -> Iterator[Result]:
    """Measure 2: a round of the partially concealed bandit against a round of Exp3."""
    return against_exp3("partially-concealed", {10: 6.0, 100: 7.0, 1000: 9.0}, effort)


def full_information(effort: Effort) -> Iterator[Result]:
    """Measure 3: a full-information round against a round of Exp3."""
    return against_exp3("full-information", {10: 4.5, 100: 4.5, 1000: 4.5}, effort)


def practical(effort: Effort) -> Iterator[Result]:
    """Measure 18: the practical bandit against concealed, and experts against full information."""
    for arms in PRACTICAL_ARMS:
        rounds = effort.choose(FULL, QUICK)[arms]
        for name, rival, goal in (
            ("practical-bandit", "concealed", at_most(MOST)),
            ("practical-experts", "full-information", None),
        ):
            yield duel(name, rival, rival, arms, rounds, effort, goal)
