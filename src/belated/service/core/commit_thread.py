"""The desk: one thread that owns store and replicas, and sees to requests a group at a time.

While one group is being committed the next one gathers, so that the cost of a commit is shared by
all who wait for it. Nothing is answered before its commit.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from belated.compiled.jit import source_hash
from belated.numerics.random_stream import seeded
from belated.service.core.batch import LateReports, Sitting
from belated.service.core.errors import Conflict, Refusal, Unavailable
from belated.service.core.replicas import Replicas
from belated.service.core.requests import Ask, Call, Change, Create, Request, size_of
from belated.service.run.metrics import Metrics
from belated.service.store import Note, Problem, Store, StoreUnavailable
from belated.service.store.records import CREATED

log = logging.getLogger(__name__)

MOST_RECORDS = 500  # in one commit, unless a single request has more
MOST_WAITING = 20_000
TICK = 0.05  # seconds after which the journal is looked at and plays expire, if nobody asks
WAIT = 0.25  # of the time that a group took, for those who were in it to come again

Token = Any
Replies = Sequence[tuple[Token, Any]]


class Job(NamedTuple):
    """A request, and whatever tells who waits for the answer."""

    request: Request
    token: Token


class Desk:
    """Sees to requests in a thread of its own, and hands the answers to `deliver`.

    An answer is a value, or an exception: a Refusal if something was wrong with the request.
    """

    def __init__(
        self,
        store: Store,
        deliver: Callable[[Replies], None],
        metrics: Metrics | None = None,
        seed: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._deliver, self._clock = store, deliver, clock
        self.metrics = metrics or Metrics()
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._stream = seeded(seed)
        self._late = LateReports()
        self._crowd, self._patience = 0, 0.0
        loaded = Replicas.loaded(store)
        if store.one_owner and store.code.since(source_hash()) is None:
            store.code.takes_over(source_hash(), loaded.position)
        self._replicas: Replicas | None = loaded
        self._thread = threading.Thread(target=self._run, name="desk", daemon=True)
        self._thread.start()

    def submit(self, jobs: Iterable[Job]) -> None:
        """Have requests seen to; all are refused at once if too many wait."""
        if self._jobs.qsize() >= MOST_WAITING:
            raise Unavailable("too many requests are waiting; try again later")
        if not self._thread.is_alive():
            raise Unavailable("the service is stopping")
        for job in jobs:
            self._jobs.put(job)

    def stop(self) -> None:
        """See to all that waits, take a snapshot, and end."""
        self._jobs.put(None)
        self._thread.join()

    @property
    def is_alive(self) -> bool:
        """Whether requests are being seen to."""
        return self._thread.is_alive()

    # -- the thread

    def _run(self) -> None:
        going, jobs = True, list[Job]()
        while going:
            jobs, going = self._gathered()
            started = time.perf_counter()
            replies = self._seen_to(jobs)
            self._crowd, self._patience = len(jobs), WAIT * (time.perf_counter() - started)
            if replies:
                self._deliver(replies)
            self._keep_up(ending=not going)

    def _gathered(self) -> tuple[list[Job], bool]:
        """All that waits, up to a group; or nothing after a while. False if it is the last.

        Those who were answered together soon ask again. Whoever of them is first must not get a
        commit to itself, for which the others would have to wait, so it waits for them a little.
        """
        jobs: list[Job] = []
        records = 0
        try:
            job = self._jobs.get(timeout=TICK)
            until = time.perf_counter() + self._patience
            while job is not None:
                jobs.append(job)
                records += size_of(job.request)
                if records >= MOST_RECORDS:
                    return jobs, True
                left = until - time.perf_counter() if len(jobs) < self._crowd else 0.0
                job = self._jobs.get(timeout=left) if left > 0.0 else self._jobs.get_nowait()
        except queue.Empty:
            return jobs, True
        return jobs, False

    def _seen_to(self, jobs: list[Job]) -> list[tuple[Token, Any]]:
        alone = [job for job in jobs if isinstance(job.request, Create | Call)]
        group = [job for job in jobs if not isinstance(job.request, Create | Call)]
        try:
            results = self._sat([job.request for job in group])
        except Exception as error:
            results = [self._failed(error)] * len(group)
        replies = [(job.token, result) for job, result in zip(group, results, strict=True)]
        for job in alone:
            try:
                replies.append((job.token, self._done_alone(job.request)))
            except Refusal as refusal:
                replies.append((job.token, refusal))
            except Exception as error:
                replies.append((job.token, self._failed(error)))
        return replies

    def _failed(self, error: Exception) -> Exception:
        """What is answered if a commit failed: the replicas may know too much, and are dropped."""
        if self._store.one_owner:
            self._replicas = None
        if isinstance(error, StoreUnavailable):
            log.error("%s", error)
            return Unavailable(f"{error}; nothing was acknowledged, send it again")
        log.exception("a group of requests failed")
        return error

    def _at_hand(self) -> Replicas:
        """The replicas, folded again if they were dropped."""
        if self._replicas is None:
            self._replicas = Replicas.loaded(self._store)
        return self._replicas

    def _sat(self, requests: list[Request]) -> list[Any]:
        replicas, started = self._at_hand(), time.perf_counter()
        if any(isinstance(each, Ask | Change) for each in requests):
            replicas.look_ahead()
        sitting = Sitting(self._store, replicas, self._stream, self._clock(), self._late)
        answers = sitting.through(requests)
        written = len(sitting.decisions) + len(sitting.outcomes) + len(sitting.notes)
        if self._store.one_owner:
            replicas.unsaved += written
        for name, number in sitting.repeated.items():
            self.metrics.repeated.labels(name).inc(number)
        if written:
            self.metrics.committed(written, time.perf_counter() - started)
        return answers

    def _done_alone(self, request: Request) -> Any:
        replicas = self._at_hand()
        if isinstance(request, Call):
            replicas.look_ahead()
            return request.work(self._store, replicas)
        assert isinstance(request, Create)
        now = self._clock()
        try:
            problem = self._store.create_problem(request.name, request.spec, now)
        except ValueError as error:
            raise Conflict(str(error)) from None
        self._begin(replicas, problem)
        return problem

    def _begin(self, replicas: Replicas, problem: Problem) -> None:
        """A replica of a problem that was just created."""
        if not self._store.one_owner:
            replicas.catch_up()
            return
        replica = replicas.add(problem)
        if replica is not None:
            replica.fold(Note(problem.name, CREATED, problem.spec, problem.at))
            replicas.unsaved += 1

    def _keep_up(self, ending: bool) -> None:
        """Read what others wrote, and take a snapshot if it is time, or the last time."""
        try:
            replicas = self._at_hand()
            if not self._store.one_owner:
                replicas.catch_up()
            if (ending and replicas.unsaved) or replicas.is_due():
                end = self._store.end() if self._store.one_owner else replicas.position
                replicas.save(end)
        except StoreUnavailable as error:
            log.warning("%s", error)
        except Exception as error:
            self._failed(error)
