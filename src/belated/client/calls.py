"""The requests of the service and how their answers are read, whatever sends them."""

import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, SupportsFloat, TypeVar
from urllib.parse import quote

from belated.checks import as_number
from belated.client.errors import ServiceError, error_of
from belated.client.models import Problem, Report, read_feedback, read_ticket
from belated.types import Feedback, Ticket

T = TypeVar("T")
COMPILING = 120.0  # seconds: the first problem of a learner, or its first change of arms, may take


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request; `repeatable` if sending it again changes nothing, once it was done.

    `seconds` is how long it may take at least, whatever the client's timeout.
    """

    method: str
    path: str
    read: Callable[[Any], T]
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    seconds: float = 0.0
    ticket: str | None = None
    cancelling: bool = False

    def answered(self, status: int, text: bytes, request_id: str | None) -> T:
        """What an answer says, or the error that it stands for."""
        try:
            body = json.loads(text)
        except ValueError:
            body = None
        if 200 <= status < 300 and body is not None:
            return self.read(body)
        details = body if isinstance(body, dict) else {}
        if 200 <= status < 300:
            raise ServiceError(f"the service answered {status} without JSON", status, request_id)
        if self.ticket is not None:
            details = {**details, "ticket": self.ticket}
        raise error_of(status, details, request_id, cancelling=self.cancelling)


def create_problem(
    name: str,
    arms: Sequence[str],
    *,
    kind: Literal["bandit", "experts"] | None = None,
    learner: str | None = None,
    options: Mapping[str, Any] | None = None,
    loss_range: tuple[float, float] | None = None,
    expire_after: int | None = None,
    expire_seconds: float | None = None,
    default_loss: float | None = None,
) -> Call[Problem]:
    """Create a problem; it is not tried again if it may have been created."""
    body = {
        "name": name,
        "arms": list(arms),
        "kind": kind,
        "learner": learner,
        "options": None if options is None else dict(options),
        "loss_range": None if loss_range is None else list(loss_range),
        "expire_after": expire_after,
        "expire_seconds": expire_seconds,
        "default_loss": default_loss,
    }
    return Call(
        "POST", "/v1/problems", Problem.read, given(body), repeatable=False, seconds=COMPILING
    )


def problems(*, archived: bool = False) -> Call[list[Problem]]:
    """All problems that the key may see; archived ones, too, if wanted."""
    path = "/v1/problems?archived=true" if archived else "/v1/problems"
    return Call("GET", path, lambda body: [Problem.read(each) for each in body["problems"]])


def problem(name: str) -> Call[Problem]:
    """A problem as it stands."""
    return Call("GET", path_of(name), Problem.read)


def change_arms(
    name: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> Call[tuple[str, ...]]:
    """Add arms to a problem and remove others; returns those it has then."""
    return Call(
        "POST",
        f"{path_of(name)}/arms",
        lambda body: tuple(body["arms"]),
        {"add": list(add), "remove": list(remove)},
        seconds=COMPILING,
    )


def ask(problem: str, *, key: str | None = None) -> Call[Ticket]:
    """One decision; the same `key` gets the same decision again, and each call has its own."""
    return Call("POST", f"{path_of(problem)}/ask", read_ticket, headers=keyed(key))


def ask_batch(problem: str, count: int, *, key: str | None = None) -> Call[list[Ticket]]:
    """Several decisions at once."""
    return Call(
        "POST",
        f"{path_of(problem)}/ask:batch",
        lambda body: [read_ticket(each) for each in body["decisions"]],
        {"count": count},
        keyed(key),
    )


def tell(
    ticket: Ticket | str,
    loss: SupportsFloat | None = None,
    *,
    reward: SupportsFloat | None = None,
    missing: int | None = None,
    arm: str | None = None,
) -> Call[Feedback]:
    """What came of a decision; if it had to be sent again, `counted` may be that of the first."""
    report = body_of(Report(ticket, loss, reward, missing, arm))
    name = report.pop("ticket")
    return Call("POST", f"{path_to(name)}/tell", read_feedback, report, ticket=name)


def tell_batch(reports: Sequence[Report]) -> Call[list[Feedback | Exception]]:
    """What came of several decisions: for each its feedback, or the error that `tell` raises."""
    bodies = [body_of(report) for report in reports]
    return Call(
        "POST",
        "/v1/tell:batch",
        lambda body: [
            read_feedback(each) if "counted" in each and "status" not in each else refused(each)
            for each in body["results"]
        ],
        {"reports": bodies},
    )


def cancel(ticket: Ticket | str) -> Call[Feedback]:
    """The decision was not used: nothing will be told of it."""
    name = id_of(ticket)
    return Call("POST", f"{path_to(name)}/cancel", read_feedback, ticket=name, cancelling=True)


def refused(details: Mapping[str, Any]) -> Exception:
    """Why a report of a batch was refused."""
    return error_of(int(details["status"]), details, None)


def id_of(ticket: Ticket | str) -> str:
    """The id of a ticket."""
    return ticket.id if isinstance(ticket, Ticket) else ticket


def body_of(report: Report) -> dict[str, Any]:
    """A report as it is sent."""
    numbers = {
        name: None if value is None else as_number(value, name)
        for name, value in (("loss", report.loss), ("reward", report.reward))
    }
    return given({**report._asdict(), **numbers, "ticket": id_of(report.ticket)})


def given(body: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a body that was given."""
    return {name: value for name, value in body.items() if value is not None}


def keyed(key: str | None) -> dict[str, str]:
    """The header under which a decision is made once, however often it is asked for."""
    return {"Idempotency-Key": new_key() if key is None else key}


def new_key() -> str:
    """A key of 80 random bits that rises with time: a store with many keys finds its place fast."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def path_of(problem: str) -> str:
    """The path of a problem."""
    return f"/v1/problems/{quote(problem, safe='')}"


def path_to(ticket: str) -> str:
    """The path of a ticket."""
    return f"/v1/tickets/{quote(ticket, safe='')}"
