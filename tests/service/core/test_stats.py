"""What the dashboard shows beyond counts: the oldest ticket of each arm, the last minute."""

import numpy as np

from belated.service.core.arms import ArmHistory
from belated.service.core.stats import ProblemStats
from belated.service.store import Store
from tests.service.material import decision, experts, told


def test_the_oldest_open_ticket_of_each_arm(store: Store) -> None:
    """Only tickets that still wait are looked at."""
    assert store.oldest("ads") == {}
    store.append(
        [
            decision("t1", at=1.0),
            decision("t2", at=3.0),
            decision("t3", at=2.0, arm="green"),
            experts("t4", "a", "b", at=4.0),
        ],
        [],
    )
    assert store.oldest("ads") == {"red": 1.0, "green": 2.0, None: 4.0}
    store.append([], [told("t1"), told("t3", arm="green"), told("t4", arm="a")])
    assert store.oldest("ads") == {"red": 3.0, None: 4.0}
    assert store.oldest("others") == {}


def test_decisions_of_the_last_minute() -> None:
    """Each second has its place, and what is older than a minute has none."""
    stats = ProblemStats(ArmHistory.first(["red"]))
    for round_, at in enumerate([100.2, 100.9, 130.0, 159.99, 160.5], 1):
        stats.add_decision(round_, at, "red", lambda: np.ones(1))
    seen = stats.last_minute(159.999)
    assert len(seen) == 60
    assert {place: number for place, number in enumerate(seen) if number} == {0: 2, 30: 1, 59: 1}
    assert stats.per_second(160.6) == 3 / 60
    assert sum(stats.last_minute(1000.0)) == 0
