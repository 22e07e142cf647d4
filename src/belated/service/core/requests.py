"""The requests that the commit thread carries out, the queue in which they wait, and their results.

A thread that is woken for every request costs more than the request, and competes with the thread
that reads the next ones. So anyone who takes from the queue says how many requests it waits for,
and is woken when there are so many, or when its time is over.
"""

import queue
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

NEVER = 2**62  # requests
Token = Any  # with which an answer is delivered
Allowed = Callable[[str], bool]  # whether the caller may do this to the problem of this name


def anybody(problem: str) -> bool:
    """Allow everything."""
    return True


class Ask(NamedTuple):
    """Make `number` decisions; a repeated `key` with the same `digest` gets the same decisions.

    `among` names the arms that may be drawn, if not all of them may. `contexts` has what is known
    of each round, if anything is (see `contexts`), and `actions` the features of arms in all of
    these rounds. `keeps_all` says that the probabilities of all arms are to be kept with the
    decision.
    """

    problem: str
    number: int = 1
    key: str | None = None
    digest: str | None = None
    among: frozenset[str] | None = None
    contexts: Sequence[str | None] = ()
    keeps_all: bool = False
    actions: str | None = None


class TicketReport(NamedTuple):
    """A loss or a reward of a ticket, in the user's units; a report of experts names the arm.

    Where a ticket has several outcomes, `outcome` names the one, and `revision` counts its changes.
    """

    ticket: str
    loss: float | None = None
    reward: float | None = None
    missing: int | None = None
    arm: str | None = None
    outcome: str | None = None
    revision: int | None = None


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


class Job(NamedTuple):
    """A request, and the token with which its answer is delivered."""

    request: Request
    token: Token


class JobQueue:
    """Requests in the order in which they came; any thread may add, and one takes."""

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._bell: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._wanted = NEVER
        self._ended = False

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, jobs: Iterable[Job]) -> None:
        """Add requests, and wake anyone who waits for so many."""
        self._jobs.extend(jobs)
        if len(self._jobs) >= self._wanted:
            self._bell.put(None)

    def end(self) -> None:
        """Say that no more will come."""
        self._ended = True
        self._bell.put(None)

    def wait(self, number: int, seconds: float) -> bool:
        """Wait until there are so many requests, or for so long; returns whether there is any."""
        self._wanted = number  # before the first look: what is added later rings the bell
        until = time.perf_counter() + seconds
        while len(self._jobs) < number and not self._ended:
            left = until - time.perf_counter()
            if left <= 0.0:
                break
            try:
                self._bell.get(timeout=left)
            except queue.Empty:
                break
        return bool(self._jobs)

    def taken(self, records: int) -> tuple[list[Job], bool]:
        """Take requests of about so many records, and whether more may come."""
        self._wanted = NEVER  # no one waits, so no one is woken
        while not self._bell.empty():
            self._bell.get_nowait()
        jobs: list[Job] = []
        while self._jobs and records > 0:
            jobs.append(self._jobs.popleft())
            records -= records_in(jobs[-1].request)
        return jobs, bool(self._jobs) or not self._ended
