"""Measure 19: an ask while many tickets of a learner stay open, against one while few do.

Tickets are opened and none is told, so that the whole cost of growing is timed: memory, and the
visits of Python's garbage collector, which is on as usual.
"""

from collections.abc import Iterator

from belated import ConcealedBandit
from benchmarks.measure import Effort, Result, at_most
from benchmarks.timing import Contestant, race
from benchmarks.workload import SEED

ARMS = 10
FEW, MANY, QUICK = 1_000, 1_000_000, 5_000
LEARNERS = 20  # with few tickets each: one alone would be asked in too short a time


class Growing:
    """Learners whose open tickets grow to the same number in each turn, one after the other."""

    def __init__(self, learners: int, tickets: int) -> None:
        self.learners, self.tickets = learners, tickets
        self.bandits: list[ConcealedBandit] = []

    def begin(self) -> None:
        """Replace the learners by new ones without tickets."""
        self.bandits.clear()
        for _ in range(self.learners):
            self.bandits.append(ConcealedBandit(ARMS, max_missing=self.tickets, seed=SEED))

    def __call__(self, count: int) -> None:
        for bandit in self.bandits:
            ask = bandit.ask
            for _ in range(count // self.learners):
                ask()

    def contestant(self) -> Contestant:
        """Return the learners as a contestant; each is asked for all its tickets in a turn."""
        return Contestant(f"{self.tickets:,}", self, self.learners * self.tickets)


def growth(effort: Effort) -> Iterator[Result]:
    """Measure 19: the time of an ask while tickets grow to many, divided by that to few."""
    both = [Growing(LEARNERS, FEW), Growing(1, effort.choose(MANY, QUICK))]

    def begin() -> None:
        for each in both:
            each.begin()

    few, many = (each.contestant() for each in both)
    result = race([few, many], effort.choose(7, 2), begin)
    yield Result(
        f"ask, up to {many.name} open tickets",
        result.ratio(many.name, to=few.name),
        arms=ARMS,
        goal=at_most(1.3),
        ours=result.time(many.name),
        rival=result.time(few.name),
    )
