"""Sweeps: the runs of a grid are made on any executor, stored when they are done, never repeated.

A sweep can be killed, or lose workers, at any moment: if it is started again with the same grid and
store, it makes the runs that are not stored yet. Its table does not depend on where or in what
order the runs were made.
"""

import contextlib
import json
import queue
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from belated import __version__
from belated.comparison.compare import compare
from belated.comparison.table import Table
from belated.compiled.entries import can_compile
from belated.compiled.preparing import prepare
from belated.environments.environment_specs import environment_with
from belated.interrupts import noticed_interrupts
from belated.learners.registry import learner_named
from belated.numerics.random_stream import seeded
from belated.play.engine import INTERPRETED_ROUNDS, first_entry_for, first_run
from belated.sweep.grid import Grid, GridRun
from belated.sweep.sweep_store import RunResult, SweepStore
from belated.sweep.workers import GivenWorkers, LocalWorkers, Workers
from belated.types import BelatedError, BelatedWarning

Progress = Callable[[int, int], None]

CAREFUL_FROM = 2
MOST_BREAKDOWNS = 10
POLL = 0.1  # seconds after which an interrupt is noticed at the latest


class SweepError(BelatedError):
    """Raised when a sweep cannot go on; what it has stored is kept."""


@dataclass(frozen=True)
class SweepResult:
    """The result of a sweep.

    `failures` has the error messages of the runs that failed, by key; `before` counts the runs that
    were stored when the sweep began, `resubmitted` those that were lost with a worker and submitted
    again, and `duplicates` the results that came for a run that was already stored.
    """

    table: Table
    failures: dict[str, str]
    before: int
    resubmitted: int
    duplicates: int


def sweep(
    grid: Grid,
    store: str | Path,
    executor: Executor | None = None,
    progress: Progress = lambda stored, total: None,
) -> Table:
    """Make all runs of a grid and return their table: a row for each run, with every digit.

    Runs that are stored are not repeated; the others are made on all cores, unless an executor is
    given. A run that failed has its error in the column `failure`.
    """
    workers = LocalWorkers() if executor is None else GivenWorkers(executor)
    report = run_sweep(grid, store, workers, progress)
    if report.failures:
        key, failure = next(iter(report.failures.items()))
        count = f"{len(report.failures)} of {len(report.table)} runs failed"
        warnings.warn(f"{count}; {GridRun.of(key)}: {failure}", BelatedWarning, stacklevel=2)
    return report.table


def run_sweep(
    grid: Grid,
    path: str | Path,
    workers: Workers,
    progress: Progress = lambda stored, total: None,
    retry_failed: bool = False,
) -> SweepResult:
    """Make the runs that are not stored; `progress` is given the number stored and the total."""
    keys = grid.keys()
    with SweepStore(path) as store:
        stored = store.outcomes(keys)
        if retry_failed:
            stored = {key: outcome for key, outcome in stored.items() if outcome.failure is None}
        if len(stored) < len(keys) and store.version != __version__:
            raise ValueError(
                f"{store.path.name} was begun by belated {store.version} and this is "
                f"{__version__}; runs of two versions do not belong in one table, use a new file"
            )
        store.forget_failures(key for key in keys if key not in stored)
        drive = _SweepRunner(store, workers, progress, len(keys))
        missing = [key for key in keys if key not in stored]
        if isinstance(workers, LocalWorkers):
            compile_for(missing)
        drive.run(missing)
        outcomes = store.outcomes(keys)
        return SweepResult(
            table=Table.of([_record(key, outcomes[key]) for key in keys]),
            failures={k: o.failure for k, o in outcomes.items() if o.failure is not None},
            before=len(stored),
            resubmitted=drive.resubmitted,
            duplicates=store.duplicates,
        )


def compile_for(keys: Iterable[str]) -> None:
    """Compile the learners of these runs side by side, as far as they play long games."""
    if can_compile():
        runs = {run._replace(seed=0).key: run for run in map(GridRun.of, keys)}
        names = {run.learner for run in runs.values() if is_long(run)}
        learners = [learner_named(name)(arms=2) for name in sorted(names)]
        prepare(first_entry_for(first_run(learner, seeded(0))) for learner in learners)


def is_long(run: GridRun) -> bool:
    """Whether a run is worth compiling for; one that cannot be made is not."""
    try:
        return environment_with(run.scenario, run.scenario_options).rounds > INTERPRETED_ROUNDS
    except (ValueError, TypeError, OSError):
        return False


def work(key: str) -> RunResult:
    """Make one run, in any process; its row is that of a comparison, without the time it took."""
    started = time.perf_counter()
    row = failure = None
    try:
        run = GridRun.of(key)
        environment = environment_with(run.scenario, run.scenario_options)
        [found] = compare([run.contender], environment, 1, run.seed, workers=1).runs()
        del found["seconds"]
        row = json.dumps(found)
    except Exception as error:
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        failure = kind + " ".join(str(error).split())
    return RunResult(row, failure, time.perf_counter() - started)


def _record(key: str, outcome: RunResult) -> dict[str, Any]:
    run = GridRun.of(key)
    if outcome.row is None:
        return {**run.columns, "seed": run.seed, "failure": outcome.failure}
    return {**run.columns, **json.loads(outcome.row), "scenario": run.scenario}


class _SweepRunner:
    """Submits runs, stores their results, and submits runs again that were lost with a worker.

    An error of the run itself comes back as its result; any other error means that the run was
    lost. Runs lost while they were in progress together count as one breakdown. After some
    breakdowns with nothing stored in between, runs are submitted one by one, since one of them may
    kill the workers of all others; after too many breakdowns the sweep ends.
    """

    def __init__(self, store: SweepStore, workers: Workers, progress: Progress, total: int) -> None:
        self.store = store
        self.workers = workers
        self.progress = progress
        self.total = total
        self.stored = 0
        self.waiting: deque[str] = deque()
        self.under_way: dict[Future[RunResult], tuple[str, int]] = {}
        self.finished: queue.SimpleQueue[Future[RunResult]] = queue.SimpleQueue()
        self.broken = False
        self.breakdowns = 0
        self.fruitless = 0
        self.resubmitted = 0

    def run(self, keys: list[str]) -> None:
        """Make these runs.

        An interrupt abandons the runs in progress; its message says how to continue the sweep.
        """
        self.waiting.extend(keys)
        self.stored = self.total - len(keys)
        self.progress(self.stored, self.total)
        try:
            with noticed_interrupts() as interrupts:
                while (self.waiting or self.under_way) and not interrupts.came:
                    self._hand_in()
                    if self.under_way:
                        with contextlib.suppress(queue.Empty):
                            self._take(self.finished.get(timeout=POLL))
            if self.waiting or self.under_way:
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise KeyboardInterrupt(self._state()) from None
        finally:
            self.workers.close(list(self.under_way))

    def _hand_in(self) -> None:
        """Submit as many runs as may be in progress, but none to workers that have broken down."""
        if self.broken and not self.under_way:
            self.workers.renew()
            self.broken = False
        most = self.workers.ahead if self.fruitless < CAREFUL_FROM else 1
        while self.waiting and not self.broken and len(self.under_way) < most:
            try:
                future = self.workers.submit(work, self.waiting[0])
            except Exception as error:
                self.broken = True
                self._break_down(error)
                return
            self.under_way[future] = (self.waiting.popleft(), self.breakdowns)
            future.add_done_callback(self.finished.put)

    def _take(self, future: "Future[RunResult]") -> None:
        """Store the result of a run, or queue a lost run again."""
        key, breakdowns = self.under_way.pop(future)
        try:
            outcome = future.result()
        except Exception as error:
            self.waiting.append(key)
            self.resubmitted += 1
            self.broken = self.broken or isinstance(error, BrokenExecutor)
            if breakdowns == self.breakdowns:
                self._break_down(error)
            return
        if outcome.version != __version__:
            raise SweepError(
                f"a worker has belated {outcome.version} and this is {__version__}; "
                "all must have the same"
            )
        self.store.put(key, outcome)
        self.stored += 1
        self.fruitless = 0
        self.progress(self.stored, self.total)

    def _break_down(self, error: Exception) -> None:
        self.breakdowns += 1
        self.fruitless += 1
        if self.fruitless >= MOST_BREAKDOWNS:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise SweepError(
                f"the workers broke down {self.fruitless} times in a row and finished nothing "
                f"({reason}); {self._state()}"
            )

    def _state(self) -> str:
        stored = f"{self.stored} of {self.total} runs are stored"
        return f"{stored}; the same sweep goes on from there"
