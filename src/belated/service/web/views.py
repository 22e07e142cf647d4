"""Replicas as JSON objects: a problem, its statistics, and its open tickets."""

import time
from typing import Any

from belated.service.core.replica import Replica
from belated.service.store import Store

AGES = (60.0, 600.0, 3600.0, 86_400.0, 604_800.0)  # seconds; open tickets are counted between them


def problem_view(replica: Replica) -> dict[str, Any]:
    """A problem: its specification, status, round, open tickets and weights."""
    problem = replica.problem
    return {
        "name": problem.name,
        "status": replica.status_in_force,
        **problem.spec,
        "created": problem.at,
        "round": replica.round,
        "pending": len(replica.open),
        "weights": dict(zip(problem.arms, replica.weights().tolist(), strict=True)),
    }


def stats_view(replica: Replica) -> dict[str, Any]:
    """A problem with all its statistics."""
    stats, now = replica.stats, time.time()
    arms, present = [], replica.problem.places
    for place, arm in enumerate(replica.arm_history.ever):
        arms.append(
            {
                "arm": arm,
                "removed": arm not in present,
                "decided": int(stats.decided[place]),
                "told": int(stats.losses.number[place]),
                "expired": int(stats.expired[place]),
                "cancelled": int(stats.cancelled[place]),
                "loss": stats.losses.shown(place),
                "delay_rounds": stats.rounds.shown(place),
                "delay_seconds": stats.seconds.shown(place),
            }
        )
    points = stats.history.points
    return {
        **problem_view(replica),
        "at": now,
        "decisions_per_second": stats.per_second(now),
        "decisions_of_last_minute": stats.last_minute(now),
        "late_reports": replica.late_reports,
        "by_arm": arms,
        "weights_over_time": {
            "round": [point[0] for point in points],
            "at": [point[1] for point in points],
            "weights": [point[2].tolist() for point in points],
        },
        "events": [
            dict(zip(("at", "kind", "ticket", "arm", "value"), event, strict=True))
            for event in reversed(stats.recent)
        ],
    }


def pending_view(store: Store, problem: str) -> dict[str, Any]:
    """The numbers of open tickets by arm and age, the youngest first, and the age of the oldest."""
    now = time.time()
    found = store.ages(problem, [now - age for age in reversed(AGES)])
    by_arm = {arm or "": list(reversed(numbers)) for arm, numbers in found.items()}
    oldest = {arm or "": max(0.0, now - at) for arm, at in store.oldest(problem).items()}
    return {"age_seconds": list(AGES), "by_arm": by_arm, "oldest_seconds": oldest}
