"""The requests that the commit thread carries out, and the result of a report."""

from collections.abc import Callable
from typing import Any, NamedTuple

Allowed = Callable[[str], bool]  # whether the caller may do this to the problem of this name


def anybody(problem: str) -> bool:
    """Allow everything."""
    return True


class Ask(NamedTuple):
    """Make `number` decisions; a repeated `key` with the same `digest` gets the same decisions.

    `among` names the arms that may be drawn, if not all of them may.
    """

    problem: str
    number: int = 1
    key: str | None = None
    digest: str | None = None
    among: frozenset[str] | None = None


class TicketReport(NamedTuple):
    """A loss or a reward of a ticket, in the user's units; a report of experts names the arm."""

    ticket: str
    loss: float | None = None
    reward: float | None = None
    missing: int | None = None
    arm: str | None = None


class Tell(NamedTuple):
    """Take several reports; each is answered by itself."""

    reports: list[TicketReport]
    allowed: Allowed = anybody


class Cancel(NamedTuple):
    """Close a ticket whose decision was not used: no loss of it will be told."""

    ticket: str
    allowed: Allowed = anybody


class SetStatus(NamedTuple):
    """Pause, resume or archive a problem; `kind` is the kind of the note that says so."""

    problem: str
    kind: str


class CreateProblem(NamedTuple):
    """Create a problem from a specification that was checked."""

    name: str
    spec: dict[str, Any]


class RunOnThread(NamedTuple):
    """Call `work(store, replicas)` on the commit thread, between two batches."""

    work: Callable[..., Any]


Request = Ask | Tell | Cancel | SetStatus | CreateProblem | RunOnThread


class ReportResult(NamedTuple):
    """The result of a report: whether it counted, and the state of its ticket."""

    ticket: str
    counted: bool
    state: str


def records_in(request: Request) -> int:
    """The largest number of records that a request may write."""
    if isinstance(request, Ask):
        return request.number
    return len(request.reports) if isinstance(request, Tell) else 1
