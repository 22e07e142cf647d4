"""Reports as records of the journal, or refusals as HTTP has them.

What may be told of a ticket, and what stands, is in `belated.asktell.ticket_rules`, which the
library uses as well. The service differs in one thing: a report of an expired play is answered with
an error, after it was recorded.
"""

from collections.abc import Collection
from typing import Final

from belated.asktell.ticket_rules import (
    checked_missing,
    closed_to_cancelling,
    closed_to_reports,
    conflict,
    in_words,
    losses_differ,
    refuse_missing,
    state_from,
    unit_loss,
)
from belated.checks import LossRange
from belated.service.core.errors import (
    InvalidRequestError,
    RequestError,
    StateConflictError,
    TicketExpiredError,
)
from belated.service.core.problems import ServedProblem
from belated.service.core.requests import ReportResult, TicketReport
from belated.service.core.told_values import value_of
from belated.service.store import Outcome, TicketRecord
from belated.types import TicketState

# The values of TicketState, which the journal has in the place of the enumeration.
PENDING: Final = "pending"
TOLD: Final = "told"
EXPIRED: Final = "expired"
CANCELLED: Final = "cancelled"


def outcome_of(
    report: TicketReport,
    problem: ServedProblem,
    played: str | None,
    arms: Collection[str],
    round_: int,
    now: float,
) -> Outcome:
    """A report as an outcome of the arm that was played, or of the arm that it names."""
    try:
        arm = arm_of(report, played, arms)
        loss = unit_loss(problem.loss_range, report.loss, report.reward)
        missing = missing_of(report, problem, round_)
    except ValueError as error:
        raise InvalidRequestError(str(error)) from None
    raw = report.loss if report.loss is not None else report.reward
    return Outcome(report.ticket, arm, TOLD, loss, now, missing, raw)


def arm_of(report: TicketReport, played: str | None, arms: Collection[str]) -> str:
    """The arm that a report is about: the one played, or one of these."""
    if played is not None:
        if report.arm not in (None, played):
            raise ValueError(f"arm is {report.arm!r}; ticket {report.ticket!r} is for {played!r}")
        return played
    if report.arm is None:
        raise ValueError("arm is not given; a report of experts must name one of them")
    if report.arm not in arms:
        raise ValueError(f"arm is {report.arm!r}; ticket {report.ticket!r} has no such arm")
    return report.arm


def missing_of(report: TicketReport, problem: ServedProblem, round_: int) -> int | None:
    """The missing count of a report; None outside the partially concealed setting."""
    if problem.tells_missing:
        return checked_missing(report.missing, round_)
    refuse_missing(report.missing)
    return None


def judged(new: Outcome, stands: Outcome, state: str, bounds: LossRange) -> ReportResult:
    """The answer to a report of a play that was settled before by `stands`, or a RequestError."""
    if stands.kind == EXPIRED:
        raise TicketExpiredError(
            f"ticket {new.ticket!r} has expired and counts with the default loss "
            f"{value_of(stands, bounds).loss!r}; this report of {value_of(new, bounds).words} is "
            "recorded, and nothing is learned from it",
            counted=False,
            state=EXPIRED,
        )
    if stands.kind == CANCELLED:
        error = closed_to_reports(new.ticket, TicketState.CANCELLED)
        raise StateConflictError(str(error), counted=False, state=CANCELLED)
    if losses_differ(stands.loss, new.loss) or stands.missing != new.missing:
        words = (in_words(value_of(each, bounds).words, each.missing) for each in (stands, new))
        contradicts = conflict(new.ticket, stands.arm, *words)
        raise StateConflictError(str(contradicts), counted=False, state=state)
    return ReportResult(new.ticket, False, state)


def state_of(record: TicketRecord) -> str:
    """The state of a ticket in the store."""
    losses = 1 if record.decision.arm is not None else len(record.decision.weights or ())
    return state_from([TicketState(each.kind) for each in record.outcomes], losses).value


def state_after(kinds: Collection[str]) -> str:
    """The state of a ticket that was closed by outcomes of these kinds, or else was told before."""
    return state_from([TicketState(kind) for kind in kinds] or [TicketState.TOLD], 0).value


def cancelled_again(ticket: str, state: str) -> ReportResult:
    """The answer to cancelling a ticket that is closed, or a RequestError."""
    if state == CANCELLED:
        return ReportResult(ticket, False, CANCELLED)
    refusal: type[RequestError] = TicketExpiredError if state == EXPIRED else StateConflictError
    error = closed_to_cancelling(ticket, TicketState(state))
    raise refusal(str(error), counted=False, state=state)
