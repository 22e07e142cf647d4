"""What clients send and receive, beside the library's own Ticket and Feedback."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, Self, SupportsFloat

from belated.types import Feedback, Ticket, TicketState


@dataclass(frozen=True)
class Problem:
    """A problem: its specification, status, round, open tickets, and the weights of its arms."""

    name: str
    status: Literal["active", "paused", "archived"]
    kind: Literal["bandit", "experts"]
    arms: tuple[str, ...]
    learner: str
    options: Mapping[str, Any]
    loss_range: tuple[float, float]
    expire_after: int | None
    expire_seconds: float | None
    default_loss: float | None
    created: float
    round: int
    pending: int
    weights: Mapping[str, float]
    holdout: Mapping[str, Any] | None = None  # its share, and its arm or weights (else uniform)
    outcomes: Mapping[str, Any] | None = None  # names, rule, weights and revise_within
    soft_range: tuple[float, float] | None = None
    minimum_share: float | None = None

    @classmethod
    def read(cls, view: Mapping[str, Any]) -> Self:
        """A problem as the service shows it; what a later version adds is left out."""
        known = {field.name: view[field.name] for field in fields(cls) if field.name in view}
        low, high = view["loss_range"]
        if known.get("soft_range") is not None:
            known["soft_range"] = (low, high)
        return cls(**{**known, "arms": tuple(view["arms"]), "loss_range": (low, high)})


class LateReport(NamedTuple):
    """A report that arrived after its ticket had expired.

    `loss` is in the problem's units, `reward` is set if a reward was told, and `unit_loss` is the
    loss in [0, 1].
    """

    arm: str
    loss: float | None
    reward: float | None
    unit_loss: float | None
    at: float


class TicketOutcome(NamedTuple):
    """The outcome of an arm of a ticket: told, expired or cancelled.

    `loss` is in the problem's units, `reward` is set if a reward was told, and `unit_loss` is the
    loss in [0, 1]. An expired outcome has the default loss.
    """

    arm: str
    kind: Literal["told", "expired", "cancelled"]
    loss: float | None
    reward: float | None
    unit_loss: float | None
    at: float


class NamedReport(NamedTuple):
    """A report of one of several outcomes; `stands` is false if a higher revision replaced it."""

    outcome: str
    revision: int
    reward: float
    at: float
    stands: bool


@dataclass(frozen=True)
class TicketDetails:
    """A ticket: its decision, its state, its outcomes and its late reports.

    `named` has the reports of named outcomes in the order in which they arrived.
    """

    ticket: Ticket
    problem: str
    at: float
    state: TicketState
    outcomes: tuple[TicketOutcome, ...]
    late: tuple[LateReport, ...]
    named: tuple[NamedReport, ...] = ()

    @classmethod
    def read(cls, view: Mapping[str, Any]) -> Self:
        """A ticket as the service shows it; what a later version adds is left out."""
        return cls(
            ticket=read_ticket(view),
            problem=view["problem"],
            at=view["at"],
            state=TicketState(view["state"]),
            outcomes=tuple(
                TicketOutcome(*(each[field] for field in TicketOutcome._fields))
                for each in view["outcomes"]
            ),
            late=tuple(
                LateReport(*(each[field] for field in LateReport._fields)) for each in view["late"]
            ),
            named=tuple(
                NamedReport(*(each[field] for field in NamedReport._fields))
                for each in view.get("named", ())
            ),
        )


class Report(NamedTuple):
    """A loss or a reward of a ticket, in the problem's units; a report of experts names the arm.

    Where a ticket has several outcomes, `outcome` names the one, and `revision` counts its changes.
    """

    ticket: Ticket | str
    loss: SupportsFloat | None = None
    reward: SupportsFloat | None = None
    missing: int | None = None
    arm: str | None = None
    outcome: str | None = None
    revision: int | None = None


def read_ticket(view: Mapping[str, Any]) -> Ticket:
    """The ticket of a decision in an answer."""
    return Ticket(
        view["ticket"],
        view["round"],
        view.get("arm"),
        view.get("probability"),
        view.get("weights"),
        view.get("context"),
        view.get("probabilities"),
    )


def read_feedback(view: Mapping[str, Any]) -> Feedback:
    """The feedback on a report in an answer."""
    return Feedback(view["ticket"], view["counted"], TicketState(view["state"]))
