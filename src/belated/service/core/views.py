"""Problems as they are shown to those who ask for them."""

import time
from typing import Any

from belated.service.core.replica import Replica
from belated.service.store import Store

AGES = (60.0, 600.0, 3600.0, 86_400.0, 604_800.0)  # seconds; what waits is counted between them


def problem_view(replica: Replica) -> dict[str, Any]:
    """What a problem is, and how it stands."""
    problem = replica.problem
    return {
        "name": problem.name,
        "status": replica.standing,
        **problem.spec,
        "created": problem.at,
        "round": replica.round,
        "pending": len(replica.open),
        "weights": dict(zip(problem.arms, replica.weights().tolist(), strict=True)),
    }


def sight_view(replica: Replica) -> dict[str, Any]:
    """All that was seen of a problem."""
    sight, now = replica.sight, time.time()
    arms, present = [], replica.problem.places
    for place, arm in enumerate(replica.lineup.ever):
        arms.append(
            {
                "arm": arm,
                "removed": arm not in present,
                "decided": int(sight.decided[place]),
                "told": int(sight.losses.number[place]),
                "expired": int(sight.expired[place]),
                "cancelled": int(sight.cancelled[place]),
                "loss": sight.losses.shown(place),
                "delay_rounds": sight.rounds.shown(place),
                "delay_seconds": sight.seconds.shown(place),
            }
        )
    points = sight.trail.points
    return {
        **problem_view(replica),
        "at": now,
        "decisions_per_second": sight.per_second(now),
        "decisions_of_last_minute": sight.last_minute(now),
        "late_reports": replica.late,
        "by_arm": arms,
        "weights_over_time": {
            "round": [point[0] for point in points],
            "at": [point[1] for point in points],
            "weights": [point[2].tolist() for point in points],
        },
        "events": [
            dict(zip(("at", "kind", "ticket", "arm", "value"), event, strict=True))
            for event in reversed(sight.recent)
        ],
    }


def pending_view(store: Store, problem: str) -> dict[str, Any]:
    """How many tickets wait, by arm and age, the youngest first, and how old the oldest is."""
    now = time.time()
    found = store.ages(problem, [now - age for age in reversed(AGES)])
    by_arm = {arm or "": list(reversed(numbers)) for arm, numbers in found.items()}
    oldest = {arm or "": max(0.0, now - at) for arm, at in store.oldest(problem).items()}
    return {"age_seconds": list(AGES), "by_arm": by_arm, "oldest_seconds": oldest}
