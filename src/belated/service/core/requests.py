"""What the desk is asked to do, and what it answers."""

from collections.abc import Callable
from typing import Any, NamedTuple

Allowed = Callable[[str], bool]  # whether the one who asks may do this to a problem


def anybody(problem: str) -> bool:
    """Allow everything."""
    return True


class Ask(NamedTuple):
    """So many decisions of a problem; the same key with the same digest gets the same again."""

    problem: str
    number: int = 1
    key: str | None = None
    digest: str | None = None


class Report(NamedTuple):
    """What came of a ticket: a loss or a reward in the user's units; experts name the arm."""

    ticket: str
    loss: float | None = None
    reward: float | None = None
    missing: int | None = None
    arm: str | None = None


class Tell(NamedTuple):
    """Reports, each of which is answered by itself."""

    reports: list[Report]
    allowed: Allowed = anybody


class Cancel(NamedTuple):
    """The decision was not used: nothing will be told of it."""

    ticket: str
    allowed: Allowed = anybody


class Change(NamedTuple):
    """Something that happens to a problem: paused, resumed or archived."""

    problem: str
    kind: str


class Create(NamedTuple):
    """A new problem, of a spec that was checked."""

    name: str
    spec: dict[str, Any]


class Call(NamedTuple):
    """Anything else that must see store and replicas between two groups."""

    work: Callable[..., Any]


Request = Ask | Tell | Cancel | Change | Create | Call


class Verdict(NamedTuple):
    """What became of a report: whether it counted, and the state of its ticket."""

    ticket: str
    counted: bool
    state: str


def size_of(request: Request) -> int:
    """How many records a request may write."""
    if isinstance(request, Ask):
        return request.number
    return len(request.reports) if isinstance(request, Tell) else 1
