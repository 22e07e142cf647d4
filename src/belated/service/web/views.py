"""Problems and tickets as JSON; losses are in the problem's units, unless named unit_loss."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.checks import LossRange, as_range
from belated.service.admin.export import shown_named
from belated.service.core.problems import OPTIONAL
from belated.service.core.replica import Replica
from belated.service.core.reports import EXPIRED, TOLD, state_of
from belated.service.core.retained import shown_retained
from belated.service.core.ticket_lookup import unreadable
from belated.service.core.told_values import ToldValue, late_value, value_of
from belated.service.outcomes.rules import standing
from belated.service.statistics.arm_values import ArmValue, arm_value
from belated.service.statistics.delays import DelayBin, delay_estimate, edges_of
from belated.service.statistics.weights_over_time import ALL
from belated.service.store import DamagedTicket, NamedOutcome, ProblemRecord, Store, TicketRecord
from belated.service.store.records import LATE

AGES = (60.0, 600.0, 3600.0, 86_400.0, 604_800.0)  # seconds; open tickets are counted between them
EVENT = ("at", "kind", "ticket", "arm", "probability", *ToldValue._fields)


def problem_view(replica: Replica) -> dict[str, Any]:
    """A problem: its specification, status, round, open tickets and weights."""
    problem = replica.problem
    return {
        "name": problem.name,
        "status": replica.status_in_force,
        **dict.fromkeys(OPTIONAL),
        **problem.spec,
        "created": problem.at,
        "round": replica.round,
        "pending": len(replica.open),
        "weights": dict(zip(problem.arms, replica.weights().tolist(), strict=True)),
        "concern": replica.concern(),
    }


def ticket_view(
    store: Store, ticket: str, may_see: Callable[[str], bool], is_admin: Callable[[str], bool]
) -> dict[str, Any] | None:
    """A ticket: its decision, its outcomes, and what was reported too late; None if it is unknown.

    It is also unknown to anyone who may not see its problem. One that cannot be read is
    unavailable.
    A context may be personal, so only admins see it.
    """
    record = store.ticket(ticket)
    if record is None:
        damaged = store.damaged_tickets([ticket]).get(ticket)
        if damaged is not None and may_see(damaged.problem):
            raise unreadable(damaged)
        return None
    problem = store.problem(record.decision.problem)
    if problem is None or not may_see(problem.name):
        return None
    if problem.fault:
        raise unreadable(DamagedTicket(problem.name, problem.fault))
    try:
        return shown_ticket(store, record, problem, is_admin(problem.name))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        reason = f"ticket {ticket!r} makes no sense: {error!r}"
        raise unreadable(DamagedTicket(problem.name, reason)) from error


def shown_ticket(
    store: Store, record: TicketRecord, problem: ProblemRecord, sees: bool
) -> dict[str, Any]:
    """A ticket of a problem; only who `sees` it is shown its context.

    An error that is no RequestError says that somebody has written nonsense into its rows.
    """
    decision, state = record.decision, state_of(record)
    context, actions = (decision.context, decision.actions) if sees else (None, None)
    bounds = as_range(problem.spec["loss_range"])
    rule = problem.spec.get("outcomes")
    may_be_late = state == EXPIRED or (rule is not None and state == TOLD)
    late = store.notes_of_ticket(problem.name, LATE, decision.ticket) if may_be_late else []
    return {
        "ticket": decision.ticket,
        "problem": decision.problem,
        "round": decision.round,
        "arm": decision.arm,
        "probability": decision.probability,
        "weights": decision.weights,
        "cohort": decision.cohort,
        "probabilities": None if decision.arm is None else decision.weights,
        "context": known_in(context),
        "actions": known_in(actions),
        "at": decision.at,
        "state": state,
        "outcomes": [
            {"arm": each.arm, "kind": each.kind, **value_of(each, bounds)._asdict(), "at": each.at}
            for each in record.outcomes
        ],
        "named": named_view(record.named),
        "late": [
            {"arm": each.payload["arm"], **late_value(each, bounds)._asdict(), "at": each.at,
             "outcome": each.payload.get("outcome")}
            for each in late
        ],
    }  # fmt: skip


def known_in(text: str | None) -> Any:
    """A context, or features of arms, as the journal has them; ValueError if they are no JSON."""
    found = None if text is None else json.loads(text)
    json.dumps(found, allow_nan=False)
    return found


def named_view(named: Sequence[NamedOutcome]) -> list[dict[str, Any]]:
    """The named outcomes of a ticket as they came; `stands` says which no revision replaces."""
    stands = standing(named)
    return [{**shown_named(each), "stands": stands[each.name] is each} for each in named]


def stats_view(replica: Replica, range_: str = ALL) -> dict[str, Any]:
    """A problem with all its statistics; the weights over time are of a range."""
    stats, now = replica.stats, time.time()
    arms, present, bounds = [], replica.problem.places, replica.problem.loss_range
    for place, arm in enumerate(replica.arm_history.ever):
        arms.append(
            {
                "arm": arm,
                "removed": arm not in present,
                "decided": int(stats.decided[place]),
                "told": int(stats.told.number[place]),
                "expired": int(stats.expired[place]),
                "cancelled": int(stats.cancelled[place]),
                "loss": in_units(stats.losses.shown(place), bounds),
                "told_loss": in_units(stats.told.shown(place), bounds),
                "unit_loss": stats.losses.shown(place),
                "late_loss": in_units(stats.late.shown(place), bounds),
                "delay_rounds": stats.rounds.shown(place),
                "clipped": clipped_view(stats.clipped[place].tolist()),
            }
        )
    points = stats.weights_of(range_, now)
    return {
        **problem_view(replica),
        "at": now,
        "decisions_per_second": stats.per_second(now),
        "decisions_of_last_minute": stats.last_minute(now),
        "told_as": "reward" if stats.tells_rewards else "loss",
        "late_reports": replica.late_reports,
        "retained": None if replica.retained is None else shown_retained(replica.retained),
        "trust": trust_view(replica),
        "by_arm": arms,
        "weights_over_time": {
            "round": [point[0] for point in points],
            "at": [point[1] for point in points],
            "weights": [point[2].tolist() for point in points],
        },
        "events": [dict(zip(EVENT, event, strict=True)) for event in reversed(stats.recent)],
    }


def clipped_view(numbers: Sequence[float]) -> dict[str, Any]:
    """How many of an arm's outcomes lay out of the soft range, and by how much in all."""
    count, above, below = numbers
    return {"count": int(count), "above": above, "below": below}


def trust_view(replica: Replica) -> dict[str, Any] | None:
    """The account of Theorem 4, by which a round is trusted; None if nothing is certified."""
    standing, problem = replica.learner.trust(replica.state), replica.problem
    if standing is None:
        return None
    width = problem.loss_range.width
    regrets = (width * standing.regrets).tolist()
    return {
        "trusted": standing.trusted,
        "trusted_rounds": standing.rounds - standing.by_fallback,
        "rounds": standing.rounds,
        "account": dict(zip(problem.arms, regrets, strict=True)),
        "budget": width * standing.budget,
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


class RangeParts(NamedTuple):
    """What the statistics of a range are made of, as it was at one moment.

    `delays` are those of all arms there ever were. `sums` has the rows of `sums_over_time`, by arm.
    """

    name: str
    since: float
    sums: Floats
    delays: Sequence[Mapping[int, DelayBin]]
    default_loss: float | None
    bounds: LossRange


def range_parts(replica: Replica, range_: str) -> RangeParts:
    """The parts of a range, copied from a replica."""
    stats, problem = replica.stats, replica.problem
    if range_ == ALL:
        counts = (stats.decided, stats.told.number, stats.expired, stats.cancelled)
        since, sums = problem.at, np.array([*counts, *stats.losses.sums()], dtype=np.float64)
    else:
        since, sums = stats.sums.of_last(range_, time.time())
    delays = [dict(stats.delays.of(place)) for place in range(len(replica.arm_history.ever))]
    bounds, default = problem.loss_range, problem.default_loss
    return RangeParts(range_, max(since, problem.at), sums, delays, default, bounds)


def add_waiting(view: dict[str, Any], parts: RangeParts, store: Store) -> None:
    """Add to the statistics of a problem what only the store knows: how long open tickets wait.

    These are the numbers of open tickets by arm and age, the youngest first, the age of the
    oldest, and with them the delays by arm, and what each arm is worth in the end.
    """
    now, problem = time.time(), view["name"]
    spans = [] if parts.name == ALL else [now - parts.since]
    edges = sorted({*AGES, *edges_of(parts.delays), *spans})
    found = store.ages(problem, [now - age for age in reversed(edges)])
    ages = {arm or "": list(reversed(numbers)) for arm, numbers in found.items()}
    ends = [0, *(edges.index(age) + 1 for age in AGES), len(edges) + 1]
    by_arm = {
        arm: [sum(numbers[start:end]) for start, end in pairwise(ends)]
        for arm, numbers in ages.items()
    }
    oldest = {arm or "": max(0.0, now - at) for arm, at in store.oldest(problem).items()}
    view["waiting"] = {"age_seconds": list(AGES), "by_arm": by_arm, "oldest_seconds": oldest}
    until, shown = (edges.index(spans[0]) + 1 if spans else len(edges) + 1), []
    for place, (arm, bins) in enumerate(zip(view["by_arm"], parts.delays, strict=True)):
        waiting = waiting_for(arm, ages, view["kind"] == "bandit")
        arm["delay_seconds"] = delay_estimate(bins, edges, waiting)
        value = arm_value(bins, edges, waiting, parts.default_loss)
        aged = list(zip([0.0, *edges], waiting, strict=False))[:until]
        shown.append(arm_in_range(arm["arm"], parts, place, value, aged))
    view["range"] = {"name": parts.name, "since": parts.since, "by_arm": shown}


def arm_in_range(
    arm: str,
    parts: RangeParts,
    place: int,
    value: ArmValue | None,
    waiting: Sequence[tuple[float, float]],
) -> dict[str, Any]:
    """The decisions of a range for an arm: what became of them, and what they are worth.

    `waiting` has pairs (age, number) of those that wait; `value` is that of all decisions.
    """
    decided, told, expired, cancelled, losses, squares = parts.sums[:, place].tolist()
    if value is not None and parts.name != ALL:
        value = value.among(told + expired, losses, squares, waiting)
    low = high = None
    if value is not None and value.half_width is not None:
        low, high = (
            parts.bounds.loss_of(min(1.0, max(0.0, value.mean + side * value.half_width)))
            for side in (-1.0, 1.0)
        )
    mean = None if value is None else parts.bounds.loss_of(value.mean)
    closed = told + expired
    return {
        "arm": arm,
        "decided": int(decided),
        "told": int(told),
        "expired": int(expired),
        "cancelled": int(cancelled),
        "waiting": sum(number for _, number in waiting),
        "closed_mean": parts.bounds.loss_of(losses / closed) if closed else None,
        "value": {"mean": mean, "low": low, "high": high},
    }


def waiting_for(
    arm: Mapping[str, Any], ages: Mapping[str, Sequence[int]], is_bandit: bool
) -> Sequence[float]:
    """How many plays of an arm wait, by age.

    Of experts the store knows the ages of their tickets only, so what waits for one of them is
    taken to be as old as those.
    """
    if is_bandit:
        return ages.get(arm["arm"], ())
    numbers = ages.get("", ())
    untold = arm["decided"] - arm["told"] - arm["expired"] - arm["cancelled"]
    return [untold * each / sum(numbers) for each in numbers]
