"""Problems and tickets as JSON; losses are in the problem's units, unless named unit_loss."""

import time
from typing import Any

from belated.checks import LossRange, as_range
from belated.service.core.replica import LATE, Replica
from belated.service.core.reports import EXPIRED, state_of
from belated.service.core.told_values import ToldValue, late_value, value_of
from belated.service.store import Store

AGES = (60.0, 600.0, 3600.0, 86_400.0, 604_800.0)  # seconds; open tickets are counted between them
EVENT = ("at", "kind", "ticket", "arm", "probability", *ToldValue._fields)


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


def ticket_view(store: Store, ticket: str) -> dict[str, Any] | None:
    """A ticket: its decision, its outcomes, and what was told too late; None if it is unknown."""
    record = store.ticket(ticket)
    problem = None if record is None else store.problem(record.decision.problem)
    if record is None or problem is None:
        return None
    decision, state = record.decision, state_of(record)
    bounds = as_range(problem.spec["loss_range"])
    late = store.notes_of_ticket(problem.name, LATE, ticket) if state == EXPIRED else []
    return {
        "ticket": ticket,
        "problem": decision.problem,
        "round": decision.round,
        "arm": decision.arm,
        "probability": decision.probability,
        "weights": decision.weights,
        "at": decision.at,
        "state": state,
        "outcomes": [
            {"arm": each.arm, "kind": each.kind, **value_of(each, bounds)._asdict(), "at": each.at}
            for each in record.outcomes
        ],
        "late": [
            {"arm": each.payload["arm"], **late_value(each, bounds)._asdict(), "at": each.at}
            for each in late
        ],
    }


def stats_view(replica: Replica) -> dict[str, Any]:
    """A problem with all its statistics."""
    stats, now = replica.stats, time.time()
    arms, present, bounds = [], replica.problem.places, replica.problem.loss_range
    for place, arm in enumerate(replica.arm_history.ever):
        arms.append(
            {
                "arm": arm,
                "removed": arm not in present,
                "decided": int(stats.decided[place]),
                "told": int(stats.losses.number[place]),
                "expired": int(stats.expired[place]),
                "cancelled": int(stats.cancelled[place]),
                "loss": in_units(stats.losses.shown(place), bounds),
                "unit_loss": stats.losses.shown(place),
                "late_loss": in_units(stats.late.shown(place), bounds),
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
        "told_as": "reward" if stats.tells_rewards else "loss",
        "late_reports": replica.late_reports,
        "by_arm": arms,
        "weights_over_time": {
            "round": [point[0] for point in points],
            "at": [point[1] for point in points],
            "weights": [point[2].tolist() for point in points],
        },
        "events": [dict(zip(EVENT, event, strict=True)) for event in reversed(stats.recent)],
    }


def in_units(estimate: dict[str, Any], bounds: LossRange) -> dict[str, Any]:
    """An estimate of a loss in [0, 1], in the units of the problem."""
    if estimate["mean"] is None:
        return estimate
    span, variance, half = bounds.high - bounds.low, estimate["variance"], estimate["half_width"]
    return {
        "count": estimate["count"],
        "mean": bounds.loss_of(estimate["mean"]),
        "variance": None if variance is None else span * span * variance,
        "half_width": None if half is None else span * half,
    }


def pending_view(store: Store, problem: str) -> dict[str, Any]:
    """The numbers of open tickets by arm and age, the youngest first, and the age of the oldest."""
    now = time.time()
    found = store.ages(problem, [now - age for age in reversed(AGES)])
    by_arm = {arm or "": list(reversed(numbers)) for arm, numbers in found.items()}
    oldest = {arm or "": max(0.0, now - at) for arm, at in store.oldest(problem).items()}
    return {"age_seconds": list(AGES), "by_arm": by_arm, "oldest_seconds": oldest}
