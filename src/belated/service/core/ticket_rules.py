"""Reports judged: what may be told of a ticket, and what stands when it was told before."""

from collections.abc import Collection

from belated.checks import as_count
from belated.service.core.errors import (
    InvalidRequestError,
    RequestError,
    StateConflictError,
    TicketExpiredError,
)
from belated.service.core.problems import ServedProblem
from belated.service.core.requests import ReportResult, TicketReport
from belated.service.store import Outcome, TicketRecord

ROUNDING = 1e-12  # by which a reward turned into a loss may differ from that loss
PENDING, TOLD, EXPIRED, CANCELLED = "pending", "told", "expired", "cancelled"
CLOSED = (CANCELLED, EXPIRED, TOLD)  # if arms have several, the first of these is the ticket's


def outcome_of(
    report: TicketReport,
    problem: ServedProblem,
    played: str | None,
    arms: Collection[str],
    round_: int,
    now: float,
) -> Outcome:
    """A report as an outcome of the arm that was played, or of the one it names."""
    try:
        arm = arm_of(report, played, arms)
        loss = loss_of(report, problem)
        missing = missing_of(report, problem, round_)
    except ValueError as error:
        raise InvalidRequestError(str(error)) from None
    raw = report.loss if report.loss is not None else report.reward
    return Outcome(report.ticket, arm, "told", loss, now, missing, raw)


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


def loss_of(report: TicketReport, problem: ServedProblem) -> float:
    """The loss in [0, 1] that a report stands for."""
    if (report.loss is None) == (report.reward is None):
        found = "neither" if report.loss is None else "both"
        raise ValueError(f"{found} of loss and reward are given; tell takes exactly one of them")
    if report.loss is not None:
        return problem.loss_range.loss(report.loss)
    assert report.reward is not None
    return problem.loss_range.reward(report.reward)


def missing_of(report: TicketReport, problem: ServedProblem, round_: int) -> int | None:
    """The missing count, which belongs to the partially concealed setting only."""
    if problem.tells_missing:
        if report.missing is None:
            raise ValueError("missing is not given; this learner must be told it with every loss")
        return as_count(report.missing, "missing", 0, round_ - 1)
    if report.missing is not None:
        raise ValueError(
            f"missing is {report.missing!r}; only a partially concealed bandit is told it"
        )
    return None


def judged(new: Outcome, stands: Outcome, state: str) -> ReportResult:
    """What is answered to a report of which something was known before, or a RequestError."""
    name = f"ticket {new.ticket!r}"
    if stands.kind == "expired":
        raise TicketExpiredError(
            f"{name} has expired and counts as told with its default loss; this report is "
            "recorded, and nothing is learned from it",
            counted=False,
            state=EXPIRED,
        )
    if stands.kind == "cancelled":
        raise StateConflictError(
            f"{name} was cancelled; no report counts", counted=False, state=CANCELLED
        )
    assert stands.loss is not None
    assert new.loss is not None
    if abs(stands.loss - new.loss) > ROUNDING or stands.missing != new.missing:
        raise StateConflictError(
            f"{name} was told {about(stands)} for {stands.arm!r} and now {about(new)}; "
            "the first report stands",
            counted=False,
            state=state,
        )
    return ReportResult(new.ticket, False, state)


def about(outcome: Outcome) -> str:
    """What was told, in words."""
    told = f"loss {outcome.loss!r}"
    return told if outcome.missing is None else f"{told} with missing {outcome.missing}"


def state_of(record: TicketRecord) -> str:
    """The state of a ticket."""
    weights = record.decision.weights
    if len(record.outcomes) < (1 if record.decision.arm is not None else len(weights or ())):
        return PENDING
    kinds = {outcome.kind for outcome in record.outcomes}
    return next(kind for kind in CLOSED if kind in kinds)


def cancelled_again(ticket: str, state: str) -> ReportResult:
    """What is answered to cancelling a ticket that is closed, or a RequestError."""
    if state == CANCELLED:
        return ReportResult(ticket, False, CANCELLED)
    refusal: type[RequestError] = TicketExpiredError if state == EXPIRED else StateConflictError
    raise refusal(
        f"ticket {ticket!r} is {state}; only a pending ticket can be cancelled",
        counted=False,
        state=state,
    )
