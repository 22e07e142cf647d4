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

    @classmethod
    def read(cls, view: Mapping[str, Any]) -> Self:
        """A problem as the service shows it; what a later version adds is left out."""
        known = {field.name: view[field.name] for field in fields(cls)}
        low, high = view["loss_range"]
        return cls(**{**known, "arms": tuple(view["arms"]), "loss_range": (low, high)})


class Report(NamedTuple):
    """A loss or a reward of a ticket, in the problem's units; a report of experts names the arm."""

    ticket: Ticket | str
    loss: SupportsFloat | None = None
    reward: SupportsFloat | None = None
    missing: int | None = None
    arm: str | None = None


def read_ticket(view: Mapping[str, Any]) -> Ticket:
    """The ticket of a decision in an answer."""
    return Ticket(
        view["ticket"],
        view["round"],
        view.get("arm"),
        view.get("probability"),
        view.get("weights"),
    )


def read_feedback(view: Mapping[str, Any]) -> Feedback:
    """The feedback on a report in an answer."""
    return Feedback(view["ticket"], view["counted"], TicketState(view["state"]))
