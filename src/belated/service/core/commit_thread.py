"""The commit thread: it owns the store and the replicas, and commits requests in batches.

While one batch is committed the next one gathers, so that all requests of a batch share the cost of
a commit. Nothing is answered before it is committed.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from belated.compiled.sources import source_hash
from belated.numerics.single_draws import Draws
from belated.service.core.batch import CommitBatch, ProblemFault
from belated.service.core.clock import Clock, ServiceClock
from belated.service.core.errors import (
    FaultError,
    NotFoundError,
    RequestError,
    StateConflictError,
    UnavailableError,
)
from belated.service.core.late_reports import LateReports
from belated.service.core.replicas import Replicas
from belated.service.core.requests import (
    Ask,
    CreateProblem,
    Job,
    JobQueue,
    Request,
    RunOnThread,
    SetStatus,
    Token,
)
from belated.service.core.snapshot_rounds import SnapshotRounds
from belated.service.store import Lag, ProblemGone, ProblemRecord, Store, StoreUnavailable
from belated.service.store.records import created_note

log = logging.getLogger(__name__)

MOST_RECORDS = 500  # in one commit, unless a single request has more
MOST_WAITING = 20_000  # requests
TICK = 0.05  # seconds without requests after which the journal is read and tickets expire
FRESH = 0.02  # seconds after which the journal is read also if no request needs its news
LOOK, LAGS = 5.0, 10.0  # seconds between two looks at the lag, and seconds of a lag that matters
WAIT = 0.25  # share of the last batch's duration to wait for its callers to ask again

NEEDS_NEWS = (Ask, SetStatus)  # must know what other workers have just committed
ALONE = (CreateProblem, RunOnThread)  # cannot share a commit

Replies = Sequence[tuple[Token, Any]]


class CommittedBatch(NamedTuple):
    """What a batch did: the records it wrote, its seconds, and repeated reports by problem."""

    records: int
    seconds: float
    repeated: Mapping[str, int]


class CommitThread:
    """Carries out requests in a thread of its own, and hands the answers to `deliver`.

    An answer is a value or an exception: a RequestError if the request was refused. `observe` is
    called with each committed batch, for the metrics.
    """

    def __init__(
        self,
        store: Store,
        deliver: Callable[[Replies], None],
        observe: Callable[[CommittedBatch], None] = lambda batch: None,
        seed: int | None = None,
        clock: Clock = time.time,
        monotonic: Clock | None = None,
    ) -> None:
        self._store, self._deliver, self._observe = store, deliver, observe
        self._clock = ServiceClock(clock, monotonic)
        self._queue = JobQueue()
        self._draws = Draws(seed)
        self._late = LateReports()
        self._is_behind = False  # whether there are events to fold at once
        self._read_at = -FRESH  # when the journal was last read
        self._lag, self._look_again = Lag(), 0.0
        self._last_size, self._patience = 0, 0.0  # of the last batch: requests, seconds to wait
        loaded = Replicas.loaded(store)
        if store.one_owner and store.code.since(source_hash()) is None:
            store.code.takes_over(source_hash(), loaded.position)
        self._replicas = loaded
        self._snapshots = SnapshotRounds(store)
        self._thread = threading.Thread(target=self._run, name="commit", daemon=True)
        self._thread.start()

    def submit(self, jobs: Iterable[Job]) -> None:
        """Queue requests; UnavailableError if too many wait already."""
        if len(self._queue) >= MOST_WAITING:
            raise UnavailableError("too many requests are waiting; try again later")
        if not self._thread.is_alive():
            raise UnavailableError("the service is stopping")
        self._queue.add(jobs)

    def stop(self) -> None:
        """Carry out all queued requests, take a snapshot, and end."""
        self._queue.end()
        self._thread.join()

    @property
    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    # -- on the thread

    def _run(self) -> None:
        going, jobs = True, list[Job]()
        while going:
            jobs, going = self._gathered()
            started = time.perf_counter()
            replies = self._carried_out(jobs)
            self._last_size, self._patience = len(jobs), WAIT * (time.perf_counter() - started)
            if replies:
                self._deliver(replies)
            self._keep_up(ending=not going)

    def _gathered(self) -> tuple[list[Job], bool]:
        """The next batch, which is empty after TICK seconds without requests; False if the last.

        Callers that were answered together soon ask again. The first of them must not get a commit
        of its own, for which all others would have to wait; so it waits a little for the others.
        """
        seconds = 0.0 if self._is_behind else TICK
        if self._queue.wait(1, seconds) and self._last_size > 1:
            self._queue.wait(self._last_size, self._patience)
        return self._queue.taken(MOST_RECORDS)

    def _carried_out(self, jobs: list[Job]) -> list[tuple[Token, Any]]:
        """The answers to all jobs; what cannot share a commit is carried out after the batch."""
        alone = [job for job in jobs if isinstance(job.request, ALONE)]
        batch = [job for job in jobs if not isinstance(job.request, ALONE)] if alone else jobs
        results = self._contained([job.request for job in batch])
        replies = [(job.token, result) for job, result in zip(batch, results, strict=True)]
        for job in alone:
            try:
                replies.append((job.token, self._done_alone(job.request)))
            except RequestError as error:
                replies.append((job.token, error))
            except ProblemGone as gone:  # another worker has deleted it
                self._replicas.drop(gone.problem)
                replies.append((job.token, NotFoundError(str(gone))))
            except Exception as error:
                replies.append((job.token, self._failed(error)))
        return replies

    def _contained(self, requests: list[Request]) -> list[Any]:
        """The answers to requests that share a commit; a fault is answered to the guilty alone.

        A group in which something fails unexpectedly is carried out again as two halves, and these
        as halves again, until the requests on which the service fails are by themselves. Nothing
        was written before, so nothing is written twice.
        """
        try:
            return self._committed(requests)
        except ProblemGone as gone:  # another worker has deleted it
            self._replicas.drop(gone.problem)
            return self._contained(requests)
        except ProblemFault as fault:
            self._failed(fault)
            self._replicas.give_up(fault.problem, fault.reason)
            return self._contained(requests)
        except Exception as error:
            answer = self._failed(error)
        if len(requests) <= 1 or isinstance(answer, UnavailableError):
            return [answer] * len(requests)
        half = len(requests) // 2
        return self._contained(requests[:half]) + self._contained(requests[half:])

    def _failed(self, error: Exception) -> RequestError:
        """The answer to requests whose commit failed.

        With one owner replicas were folded before the commit (see `batch`). They now know of
        records that were never written; `_sound_replicas` folds their journals again before the
        next batch.
        """
        if isinstance(error, StoreUnavailable):
            log.error("%s", error)
            return UnavailableError(f"{error}; nothing was acknowledged, send it again")
        log.exception("requests failed", exc_info=error)
        return FaultError(
            "the service failed on this request, and nothing was changed by it; its log says why"
        )

    def _sound_replicas(self) -> Replicas:
        """The replicas; those of a failed commit are folded again."""
        self._replicas.roll_back()
        return self._replicas

    def _committed(self, requests: list[Request]) -> list[Any]:
        """The answers to requests that share one commit."""
        replicas, started = self._sound_replicas(), time.perf_counter()
        if not self._store.one_owner and any(isinstance(each, NEEDS_NEWS) for each in requests):
            self._read_journal(replicas)
        now, expiry_time = self._clock.now(), self._clock.for_expiry()
        batch = CommitBatch(self._store, replicas, self._draws, now, expiry_time, self._late)
        batch.is_lagging = self._lag.seconds > LAGS
        answers = batch.commit(requests)
        replicas.committed()
        for name in batch.in_doubt:  # somebody else has written into its journal
            replicas.expect(name)
        seconds = time.perf_counter() - started
        self._observe(CommittedBatch(batch.records, seconds, batch.repeated))
        return answers

    def _read_journal(self, replicas: Replicas) -> None:
        """Fold some of what other workers, and this one, have committed."""
        self._is_behind, self._read_at = False, time.monotonic()
        self._is_behind = replicas.keep_up()

    def _done_alone(self, request: Request) -> Any:
        replicas = self._sound_replicas()
        if isinstance(request, RunOnThread):
            if not self._store.one_owner:
                self._read_journal(replicas)
            answer = request.work(self._store, replicas)
            replicas.committed()
            return answer
        assert isinstance(request, CreateProblem)
        now = self._clock.now()
        replicas.expect(request.name)
        try:
            problem = self._store.create_problem(request.name, request.spec, now)
        except ValueError as error:
            replicas.committed()  # nothing was written
            raise StateConflictError(str(error)) from None
        self._add_replica(replicas, problem)
        return problem

    def _add_replica(self, replicas: Replicas, problem: ProblemRecord) -> None:
        """Start the replica of a problem that was just created."""
        if not self._store.one_owner:
            replicas.read_ahead()
            return
        if replicas.add(problem) is not None:
            replicas.fold(problem.name, created_note(problem))
            replicas.committed()

    def _watch_lag(self, replicas: Replicas) -> None:
        """Look from time to time how far the replicas are behind, and say what holds them back."""
        now = time.monotonic()
        if now < self._look_again:
            return
        self._look_again = now + LOOK
        self._lag = replicas.lag(self._clock.now())
        if self._lag.seconds > LAGS:
            log.warning(
                "%d rows of the journal cannot be learned from, the oldest for %.0f s; what holds "
                "them back is %s: learning goes on when that transaction ends",
                self._lag.rows,
                self._lag.seconds,
                self._lag.blocked_by or "not known",
            )

    def _keep_up(self, ending: bool) -> None:
        """Read what other workers wrote, and take snapshots if they are due or this is the end."""
        try:
            replicas = self._sound_replicas()
            if not self._store.one_owner:
                if ending or time.monotonic() - self._read_at > FRESH:
                    self._read_journal(replicas)
                self._watch_lag(replicas)
            if ending:
                self._snapshots.finish(replicas)
            else:
                self._snapshots.go_on(replicas)
        except StoreUnavailable as error:
            log.warning("%s", error)
        except Exception as error:
            self._failed(error)
