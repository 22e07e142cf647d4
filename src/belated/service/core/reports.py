"""Reports as records of the journal, or refusals as HTTP has them.

What may be told of a ticket, and what stands, is in `belated.asktell.ticket_rules`, which the
library uses as well. The service differs in one thing: a report of an expired play is answered with
an error, after it was recorded.
"""

from collections.abc import Collection, Iterable, Sequence
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
from belated.checks import LossRange, as_count
from belated.service.core.errors import (
    InvalidRequestError,
    RequestError,
    StateConflictError,
    TicketExpiredError,
)
from belated.service.core.problems import ServedProblem
from belated.service.core.requests import ReportResult, TicketReport
from belated.service.core.told_values import value_of
from belated.service.outcomes.rules import MOST_REVISION, MOST_REWARD
from belated.service.store import NamedOutcome, Outcome, TicketRecord
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
        refuse_named(report)
        arm = arm_of(report, played, arms)
        if problem.is_soft:
            loss = clipped_loss(problem.loss_range, report.loss, report.reward)
        else:
            loss = unit_loss(problem.loss_range, report.loss, report.reward)
        missing = missing_of(report, problem, round_)
    except ValueError as error:
        raise InvalidRequestError(str(error)) from None
    raw = report.loss if report.loss is not None else report.reward
    return Outcome(report.ticket, arm, TOLD, loss, now, missing, raw)


def clipped_loss(bounds: LossRange, loss: float | None, reward: float | None) -> float:
    """What is reported, as a loss in [0, 1] after it was clipped to a soft range."""
    for name, value in (("loss", loss), ("reward", reward)):
        if value is not None:
            check_size(value, name)
    within = [None if value is None else bounds.clipped(value) for value in (loss, reward)]
    return unit_loss(bounds, *within)


def check_size(value: float, name: str) -> None:
    """Refuse a number so large that sums of such numbers might be infinite."""
    if not -MOST_REWARD <= value <= MOST_REWARD:
        raise ValueError(f"{name} is {value!r}; it must be from {-MOST_REWARD} to {MOST_REWARD}")


def refuse_named(report: TicketReport) -> None:
    """Refuse a named outcome where a ticket has one outcome."""
    if report.outcome is not None or report.revision is not None:
        name = "revision" if report.outcome is None else "outcome"
        raise ValueError(
            f"{name} is {getattr(report, name)!r}, but the problem names no outcomes; leave it out"
        )


def named_of(report: TicketReport, problem: ServedProblem, played: str, now: float) -> NamedOutcome:
    """A report as one of the named outcomes of a ticket."""
    rule = problem.outcomes
    assert rule is not None
    try:
        arm_of(report, played, ())
        refuse_missing(report.missing)
        if report.outcome not in rule.names:
            raise ValueError(
                f"outcome is {report.outcome!r}; it must be one of {', '.join(rule.names)}"
            )
        if report.reward is None or report.loss is not None:
            raise ValueError(
                f"{report.outcome!r} is told without a reward, or with a loss; an outcome that has "
                "a name is told as a reward"
            )
        check_size(report.reward, "reward")
        revision = as_count(report.revision or 0, "revision", 0, MOST_REVISION)
    except ValueError as error:
        raise InvalidRequestError(str(error)) from None
    return NamedOutcome(report.ticket, report.outcome, revision, report.reward, now)


def settled(problem: ServedProblem, arm: str, told: Sequence[NamedOutcome], now: float) -> Outcome:
    """The outcome that closes a ticket with what the rule says about its named outcomes.

    Each of them was of a size that is accepted; what they amount to may be larger.
    """
    assert problem.outcomes is not None
    reward, bounds = problem.outcomes.reward(told), problem.loss_range
    loss = unit_loss(bounds, None, bounds.clipped(reward))
    return Outcome(told[0].ticket, arm, TOLD, loss, now, None, reward)


def same_named(new: NamedOutcome, told: Iterable[NamedOutcome]) -> NamedOutcome | None:
    """The report of the same outcome with the same revision, if there is one."""
    wanted = new[:3]
    return next((each for each in told if each[:3] == wanted), None)


def judged_named(
    new: NamedOutcome, told: Iterable[NamedOutcome], stands: Outcome | None, state: str
) -> ReportResult:
    """The answer to a named outcome that is not written, or a RequestError.

    `told` has those of its ticket, and `stands` is the outcome that has closed it.
    """
    same = same_named(new, told)
    if same is not None and same.reward == new.reward:
        return ReportResult(new.ticket, False, state)
    if same is not None:
        raise StateConflictError(
            f"{new.name!r} of ticket {new.ticket!r} was told reward {same.reward!r} in revision "
            f"{new.revision} and now reward {new.reward!r}; the first report stands, and a higher "
            "revision may change it",
            counted=False,
            state=state,
        )
    if stands is not None and stands.kind == CANCELLED:
        error = closed_to_reports(new.ticket, TicketState.CANCELLED)
        raise StateConflictError(str(error), counted=False, state=CANCELLED)
    raise TicketExpiredError(
        f"ticket {new.ticket!r} is closed, since its time is over; {new.name!r} with reward "
        f"{new.reward!r} is recorded, and nothing is learned from it",
        counted=False,
        state=state,
    )


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
