"""The journal of a problem as a log that `belated replay` reads: a row for each loss to be told.

`arrival` is the round at whose end an outcome was known, by the order of the journal; it is empty
while there is no outcome. A cancelled play has an arrival and no loss. `event` is the number of the
outcome in the order of the journal. An arm that was added or removed has a row of its own, after
the rows of the latest round.

`loss` is in the units of the problem, `reward` is there if a reward was told, and `unit_loss` is
the loss in [0, 1] from which the learner learned. The columns `late_...` have what was reported
after the play had expired, from which nothing was learned. `branch` says in which way the learner
played the round, if it has several, and `cohort` who drew the arm, if a share of decisions is held
out.
`outcomes` is a JSON list of the named outcomes of a ticket with all revisions, as they came.
`context` is what was known of the round, `actions` what was known of its arms, and `probabilities`
are those of all arms that could be drawn, where they were kept; all are JSON objects.

Tickets that were folded into a checkpoint have no rows. The rounds are numbered from 1 all the
same, so that the log can be replayed.
"""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from belated.checks import as_range
from belated.service.core.arms import ARMS
from belated.service.core.errors import UnavailableError
from belated.service.core.retained import RETAINED, shown_retained
from belated.service.core.told_values import late_value, value_of
from belated.service.store import (
    START,
    Decision,
    Event,
    NamedOutcome,
    Outcome,
    ProblemRecord,
    Store,
    Unreadable,
)
from belated.service.store.records import LATE
from belated.table_files import cell_of, write_parquet

FORMATS = (".csv", ".parquet")


class ExportRow(NamedTuple):
    """A row of the exported log."""

    round: int
    arm: str
    probability: float | None
    loss: float | None
    arrival: int | None
    missing: int | None
    outcome: str
    ticket: str
    decided_at: float
    told_at: float | None
    event: int | None
    reward: float | None = None
    unit_loss: float | None = None
    late_loss: float | None = None
    late_reward: float | None = None
    late_at: float | None = None
    branch: int | None = None
    cohort: str | None = None
    outcomes: str | None = None
    context: str | None = None
    probabilities: str | None = None
    actions: str | None = None


def rows_of(store: Store, problem: ProblemRecord) -> list[ExportRow]:
    """The rows of a problem's log, in the order of its rounds; UnavailableError if one is bad."""
    try:
        return read_rows(store, problem)
    except (KeyError, TypeError, ValueError) as error:
        why = problem.fault or f"its journal makes no sense: {error!r}"
        raise UnavailableError(f"the log of {problem.name!r} cannot be written: {why}") from error


def read_rows(store: Store, problem: ProblemRecord) -> list[ExportRow]:
    """The rows of a problem's log, if each event of its journal makes sense."""
    rows: dict[tuple[str, str], ExportRow] = {}
    named: dict[str, list[NamedOutcome]] = {}
    round_, bounds = 0, as_range(problem.spec["loss_range"])
    for number, event in enumerate(journal_of(store, problem.name)):
        body = event.body
        if isinstance(body, Decision):
            round_ += 1
            shares = body.weights if body.arm is None else {body.arm: body.probability}
            for arm, share in (shares or {}).items():
                waiting = (None, None, None, "pending", body.ticket, body.at, None, None)
                made = ExportRow(round_, arm, float(share or 0.0), *waiting)
                rows[body.ticket, arm] = made._replace(
                    branch=body.branch,
                    cohort=body.cohort,
                    context=body.context,
                    probabilities=probabilities_of(body),
                    actions=body.actions,
                )
        elif isinstance(body, Outcome):
            if (body.ticket, body.arm) not in rows:  # its decision is in a checkpoint
                continue
            rows[body.ticket, body.arm] = rows[body.ticket, body.arm]._replace(
                **value_of(body, bounds)._asdict(),
                arrival=round_,
                missing=body.missing,
                outcome=body.kind,
                told_at=body.at,
                event=number,
            )
        elif isinstance(body, NamedOutcome):
            named.setdefault(body.ticket, []).append(body)
        elif isinstance(body, Unreadable):
            raise UnavailableError(f"the log of {problem.name!r} cannot be written: {body.reason}")
        elif body.kind == LATE:
            place = body.payload["ticket"], body.payload["arm"]
            if place in rows and rows[place].late_at is None:  # the first report stands
                late = late_value(body, bounds)
                rows[place] = rows[place]._replace(
                    late_loss=late.loss, late_reward=late.reward, late_at=body.at
                )
        elif body.kind == ARMS:
            for arm, became in [(arm, "removed") for arm in body.payload["remove"]] + [
                (arm, "added") for arm in body.payload["add"]
            ]:
                happened = (None, None, round_, None, became, "", body.at, body.at, number)
                rows[f"event {number}", arm] = ExportRow(round_, arm, *happened)
    return [
        row._replace(outcomes=json.dumps(list(map(shown_named, named[row.ticket]))))
        if row.ticket in named
        else row
        for row in rows.values()
    ]


def shown_named(named: NamedOutcome) -> dict[str, Any]:
    """A named outcome as an object for users."""
    told = {"outcome": named.name, "revision": named.revision, "reward": named.reward}
    return {**told, "at": named.at}


def probabilities_of(decision: Decision) -> str | None:
    """The probabilities of all arms that could be drawn, as JSON; None if they were not kept."""
    if decision.arm is None or decision.weights is None:
        return None
    return json.dumps(decision.weights)


def retained_of(store: Store, problem: str) -> dict[str, Any] | None:
    """How many tickets of a problem are in its checkpoint, and until when; None if none are."""
    notes = [note for note in store.notes(problem) if note.kind == RETAINED]
    return shown_retained(notes[-1].payload) if notes else None


def journal_of(store: Store, problem: str) -> Iterator[Event]:
    """All events of a problem in the canonical order."""
    position = START
    while True:
        events, position = store.tail(position, problem=problem)
        if not events:
            return
        yield from events


def check_format(path: Path) -> None:
    """Refuse a file whose name has another ending than .csv or .parquet."""
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path.name} is neither {' nor '.join(FORMATS)}; it must be one of them")


def write_log(rows: list[ExportRow], path: Path) -> None:
    """Write a log as CSV or Parquet, by the ending of the file's name.

    In CSV an arm whose name a spreadsheet would run as a formula gets an apostrophe before it;
    `belated replay` takes it off again.
    """
    check_format(path)
    if path.suffix.lower() == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(ExportRow._fields)
            writer.writerows(map(cell_of, row) for row in rows)
        return
    columns: list[Any] = list(zip(*rows, strict=True)) or [()] * len(ExportRow._fields)
    write_parquet(dict(zip(ExportRow._fields, map(list, columns), strict=True)), path)
