"""A commit thread without HTTP: requests go in, answers come out."""

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from belated.service.admin.change_arms import change_arms
from belated.service.core.commit_thread import CommitThread, Replies
from belated.service.core.problems import checked_spec
from belated.service.core.replicas import Replicas
from belated.service.core.requests import (
    Ask,
    CreateProblem,
    Job,
    ReportResult,
    Request,
    RunOnThread,
    Tell,
    TicketReport,
)
from belated.service.core.snapshot_rounds import SnapshotRounds
from belated.service.core.snapshots import fingerprint
from belated.service.store import Decision, Position, Store


def settle(replies: Replies) -> None:
    """Hand answers to futures."""
    for future, answer in replies:
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)


class ThreadClient:
    """Sends requests to a commit thread, and waits for the answers."""

    def __init__(self, thread: CommitThread) -> None:
        self.thread = thread

    def sent(self, request: Request) -> "Future[Any]":
        """A request whose answer is still to come."""
        future: Future[Any] = Future()
        self.thread.submit([Job(request, future)])
        return future

    def do(self, request: Request) -> Any:
        """A request and its answer."""
        return self.sent(request).result(600)

    def create(self, name: str, **spec: Any) -> None:
        """A new problem; its learner is one that is quickly compiled, if none is named."""
        self.do(CreateProblem(name, checked_spec({"learner": "exp3", **spec})))

    def ask(self, problem: str, **options: Any) -> Decision:
        """A decision."""
        made: list[Decision] = self.do(Ask(problem, **options))
        return made[0]

    def tell(self, ticket: str, loss: float | None = None, **options: Any) -> ReportResult:
        """A report; its refusal is raised."""
        (result,) = self.do(Tell([TicketReport(ticket, loss, **options)]))
        if isinstance(result, Exception):
            raise result
        assert isinstance(result, ReportResult)
        return result

    def change_arms(
        self, problem: str, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Other arms for a problem; those it has then."""
        wanted = (problem, add, remove, 1.0)
        arms: tuple[str, ...] = self.do(
            RunOnThread(lambda store, replicas: change_arms(store, replicas, *wanted))
        )
        return arms

    def catch_up(self) -> None:
        """Have the replicas fold all that is in the journal."""

        def read(store: Store, replicas: Replicas) -> None:
            if not store.one_owner:
                catch_up(replicas)

        self.do(RunOnThread(read))

    def states(self) -> dict[str, str]:
        """The fingerprints of all problems."""
        return dict(self.do(RunOnThread(lambda store, replicas: fingerprints_in(replicas))))


def catch_up(replicas: Replicas) -> None:
    """Fold the whole journal.

    Its end waits for the oldest transaction of the PostgreSQL server, which may be one that tidies
    up (autovacuum): reading once is then not enough.
    """
    until = time.monotonic() + 600
    replicas.catch_up()
    while replicas.lag(0.0).rows:
        assert time.monotonic() < until
        time.sleep(0.01)
        replicas.catch_up()


def take_snapshots(store: Store, replicas: Replicas, position: Position) -> None:
    """Of all replicas that have changed, all being at this position."""
    rounds = SnapshotRounds(store)
    rounds.save(replicas, position)
    rounds.finish(replicas)


def fingerprints_in(replicas: Replicas) -> dict[str, str]:
    """Of all replicas."""
    return {name: fingerprint(replica) for name, replica in replicas.by_name.items()}


def busy(thread: ThreadClient) -> threading.Event:
    """Keep the commit thread busy until the event is set; what is sent meanwhile is one batch."""
    begun, go_on = threading.Event(), threading.Event()
    thread.sent(RunOnThread(lambda store, replicas: begun.set() or go_on.wait(600)))
    assert begun.wait(600)
    return go_on


@contextmanager
def thread_client(store: Store, seed: int | None = 1, **options: Any) -> Iterator[ThreadClient]:
    """A client of a commit thread over a store; the thread is stopped in the end."""
    thread = CommitThread(store, settle, seed=seed, **options)
    try:
        yield ThreadClient(thread)
    finally:
        thread.stop()
