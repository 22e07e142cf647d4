"""The uplift of a problem's treated decisions over those of its holdout's control.

Which decisions count, and with what, so that the interval of `belated.evaluation.uplift` is true at
every look although outcomes come late:

- Decisions count in their order, each once what it counts with is fixed. All after the first that
  is not fixed wait for it: those told early would be other ones than those told late.
- If tickets expire, a decision is fixed when its ticket is closed: with what was reported, or with
  the default loss. If they do not, it is fixed when it was told within `within` seconds, or when so
  many have passed; then it counts as silent, whatever comes later.
- What is silent counts with the default loss, and without one as the worst, in both cohorts.
- A cancelled decision is left out. This is fair if what is cancelled does not depend on the arm.
- Of tickets in a checkpoint no rows are left. Decisions count from the checkpoint on.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.checks import LossRange, as_number
from belated.evaluation.intervals import LEVEL
from belated.evaluation.uplift import intervals, scores
from belated.service.core.errors import InvalidRequestError, UnavailableError
from belated.service.core.holdout import CONTROL, holdout_of
from belated.service.core.problems import ServedProblem, served
from belated.service.core.reports import CANCELLED, TOLD
from belated.service.core.retained import day_of
from belated.service.core.terms import spec_after
from belated.service.store import Decision, Outcome, ProblemRecord, Store, Unreadable

WEEK = 604_800.0
MOST_POINTS = 200  # of the uplift over time
MOST_SEGMENTS = 20
NO_SEGMENT, OTHERS = "(none)", "(others)"
MOST_LETTERS = 80  # of a segment


class Decided(NamedTuple):
    """What is read of a decision."""

    ticket: str
    at: float
    arm: str
    is_control: bool
    segment: str


class Fixed(NamedTuple):
    """Decisions that count, in their order; `units` are rewards in [0, 1]."""

    at: Floats
    is_control: NDArray[np.bool_]
    arms: Sequence[str]
    segments: Sequence[str]
    units: Floats
    is_told: NDArray[np.bool_]
    is_clipped: NDArray[np.bool_]
    waiting: int  # decisions that do not count yet
    cancelled: int


def uplift_of(
    store: Store,
    problem: ProblemRecord,
    now: float,
    within: float | None,
    by: str | None = None,
    level: float = LEVEL,
) -> dict[str, Any]:
    """The uplift of a problem as an object for JSON; rewards are in the problem's units.

    `by` is a field of the context, for the uplift in each segment.
    """
    if problem.fault is not None:
        raise UnavailableError(f"{problem.name!r} cannot be compared: {problem.fault}")
    terms = served(problem._replace(spec=spec_after(problem.spec, store.notes(problem.name))))
    held = holdout_of(problem.spec)
    if held is None:
        raise InvalidRequestError(
            f"{problem.name!r} has no holdout, so that there is nothing to compare with; a holdout "
            "is declared when a problem is created"
        )
    if within is not None and not 0.0 < as_number(within, "within") <= 1e10:
        raise InvalidRequestError(f"within is {within!r}; it must be a number of seconds above 0")
    if within is None and not terms.expires:
        within = WEEK
    try:
        found = fixed(store, terms, now, within, by)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise UnavailableError(
            f"{problem.name!r} cannot be compared: its journal makes no sense: {error!r}"
        ) from error
    bounds, z = terms.loss_range, scores(found.is_control, found.units, held.share)
    number, control = len(z), cohort(found, found.is_control, bounds)
    ends = np.unique(np.linspace(1, number, min(number, MOST_POINTS)).astype(int))
    curve = (found.at[ends - 1].tolist(), ends.tolist(), *spans(z, ends, held.share, level, bounds))
    total = span(z, held.share, level, bounds)
    relative = None
    if total["value"] is not None and control["mean"]:
        relative = total["value"] / control["mean"]
    return {
        "problem": problem.name,
        "at": now,
        "share": held.share,
        "control_arm": held.arm,
        "control_weights": held.weights,
        "level": level,
        "within": within,
        "silent_reward": bounds.low + bounds.width * silent_unit(terms),
        "from": float(found.at[0]) if number else None,
        "until": float(found.at[-1]) if number else None,
        "decisions": number,
        "waiting": found.waiting,
        "cancelled": found.cancelled,
        "clipped": int(found.is_clipped.sum()),
        "treatment": cohort(found, ~found.is_control, bounds),
        "control": control,
        "uplift": {**total, "relative": relative},
        "over_time": [
            dict(zip(("at", "decisions", "value", "low", "high"), point, strict=True))
            for point in zip(*curve, strict=True)
        ],
        "days": [
            {"day": label, **part}
            for label, part in parts(found, days_of(found), z, held.share, level, bounds)
        ],
        "by": by,
        "segments": [
            {"segment": label, **part}
            for label, part in parts(found, segments_of(found), z, held.share, level, bounds)
        ]
        if by is not None
        else [],
        "by_arm": by_arm(found, bounds),
    }


def fixed(
    store: Store, problem: ServedProblem, now: float, within: float | None, by: str | None
) -> Fixed:
    """The decisions that count; what is read twice agrees, unless checkpoints are written."""
    while True:
        reached = store.checkpoints.reached().position
        decided, closed = read(store, problem.name, reached, by)
        if store.checkpoints.reached().position == reached:
            break
    silent, rows, waiting, cancelled = silent_unit(problem), [], 0, 0
    for place, decision in enumerate(decided):
        outcome = closed.get(decision.ticket)
        if outcome is not None and outcome.kind == CANCELLED:
            cancelled += 1
            continue
        is_late = within is not None and outcome is not None and outcome.at > decision.at + within
        if outcome is not None and not is_late:
            told, unit = outcome.kind == TOLD, 1.0 - (outcome.loss or 0.0)
        elif within is not None and now >= decision.at + within:
            told, unit = False, silent
        else:
            waiting = len(decided) - place
            break
        raw = outcome.raw if told and outcome is not None else None
        is_out = raw is not None and problem.loss_range.clipped(raw) != raw
        one = decision
        rows.append((one.at, one.is_control, one.arm, one.segment, unit, told, is_out))
    columns = zip(*rows, strict=True) if rows else [()] * 7
    at, is_control, arms, segments, units, is_told, is_clipped = columns
    return Fixed(
        np.array(at, dtype=np.float64),
        np.array(is_control, dtype=np.bool_),
        arms,
        segments,
        np.array(units, dtype=np.float64),
        np.array(is_told, dtype=np.bool_),
        np.array(is_clipped, dtype=np.bool_),
        waiting,
        cancelled,
    )


def read(
    store: Store, problem: str, position: str, by: str | None
) -> tuple[list[Decided], dict[str, Outcome]]:
    """The decisions of a problem after a position, and what has closed them by ticket."""
    decided: list[Decided] = []
    closed: dict[str, Outcome] = {}
    while True:
        events, position = store.tail(position, problem=problem)
        for event in events:
            if isinstance(event.body, Unreadable):
                raise UnavailableError(f"{problem!r} cannot be compared: {event.body.reason}")
            if isinstance(event.body, Decision):
                one = event.body
                segment = "" if by is None else segment_of(one.context, by)
                is_control = one.cohort == CONTROL
                decided.append(Decided(one.ticket, one.at, one.arm or "", is_control, segment))
            elif isinstance(event.body, Outcome):
                closed[event.body.ticket] = event.body
        if not events:
            return decided, closed


def silent_unit(problem: ServedProblem) -> float:
    """The reward in [0, 1] of a decision that is silent: the worst, if nothing was declared."""
    return 0.0 if problem.default_loss is None else 1.0 - problem.default_loss


def spans(
    z: Floats, ends: NDArray[np.int_], share: float, level: float, bounds: LossRange
) -> list[list[float]]:
    """The uplift after the first decisions, in the units of the problem, and its two ends."""
    if not ends.size:
        return [[], [], []]
    return [(bounds.width * each).tolist() for each in intervals(z, ends, share, level)]


def span(z: Floats, share: float, level: float, bounds: LossRange) -> dict[str, float | None]:
    """The uplift over some decisions, and its interval."""
    if not z.size:
        return dict.fromkeys(("value", "low", "high"))
    ends = spans(z, np.array([z.size]), share, level, bounds)
    return dict(zip(("value", "low", "high"), (each[0] for each in ends), strict=True))


def cohort(found: Fixed, which: NDArray[np.bool_], bounds: LossRange) -> dict[str, Any]:
    """How many decisions of a cohort count, how many were told, and their mean reward."""
    number = int(which.sum())
    mean = bounds.low + bounds.width * float(found.units[which].mean()) if number else None
    return {"decisions": number, "told": int(found.is_told[which].sum()), "mean": mean}


def parts(
    found: Fixed,
    labels: NDArray[np.str_],
    z: Floats,
    share: float,
    level: float,
    bounds: LossRange,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each part of the decisions by itself; its interval holds with the chance `level` by itself.

    A part may be any that is known before the coin is flipped: not that of an arm.
    """
    for label in np.unique(labels):
        inside = labels == label
        treated = cohort(found, inside & ~found.is_control, bounds)["mean"]
        control = cohort(found, inside & found.is_control, bounds)["mean"]
        shown = {"decisions": int(inside.sum()), "treatment": treated, "control": control}
        yield str(label), {**shown, **span(z[inside], share, level, bounds)}


def days_of(found: Fixed) -> NDArray[np.str_]:
    """The day of each decision in UTC."""
    return np.array([day_of(at) for at in found.at.tolist()], dtype=np.str_)


def segments_of(found: Fixed) -> NDArray[np.str_]:
    """The segment of each decision; those that are rare are one."""
    common = [label for label, _ in Counter(found.segments).most_common(MOST_SEGMENTS)]
    labels = [each if each in common else OTHERS for each in found.segments]
    return np.array(labels, dtype=np.str_)


def segment_of(context: str | None, by: str) -> str:
    """The value of a field of a context as text; the same text if it has none."""
    fields = None if context is None else json.loads(context)
    value = fields.get(by) if isinstance(fields, dict) else None
    if value is None:
        return NO_SEGMENT
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}..."


def by_arm(found: Fixed, bounds: LossRange) -> list[Mapping[str, Any]]:
    """What each cohort has played, and what it has earned with it."""
    arms = np.array(found.arms)
    return [
        {
            "arm": arm,
            "treatment": cohort(found, (arms == arm) & ~found.is_control, bounds),
            "control": cohort(found, (arms == arm) & found.is_control, bounds),
        }
        for arm in dict.fromkeys(found.arms)
    ]
