"""The crew of a search: its restarts, done one after the other or by several processes."""

import itertools
import multiprocessing
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from belated.stress.annealing import GameSearch, Restart
from belated.stress.hard_games import HardGame

Progress = Callable[[int, int], None]

POLL = 0.1  # seconds between two looks at the other processes


@dataclass
class RestartRunner:
    """The restarts of one search, done one after the other or by several processes."""

    search: GameSearch
    restarts: int | None
    seconds: float | None
    progress: Progress
    finds: list[HardGame] = field(default_factory=list)
    evaluations: int = 0
    interrupted: bool = False
    started: float = field(default_factory=lambda: time.time())

    def numbers(self) -> Iterator[int]:
        """The numbers of the restarts, until the time is over."""
        endless = itertools.count()
        numbers = endless if self.restarts is None else itertools.islice(endless, self.restarts)
        return itertools.takewhile(lambda number: not self.over(), numbers)

    def over(self) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and time.time() - self.started > self.seconds

    def alone(self) -> None:
        """Do everything in this process."""
        for number in self.numbers():
            restart, before = Restart(self.search, number), self.evaluations

            def tick(restart: Restart = restart, before: int = before) -> bool:
                self.tell(before + restart.evaluations)
                return self.over()

            try:
                climb(restart, tick)
            finally:
                self.keep(restart.find())

    def together(self, workers: int) -> None:
        """Share the restarts among processes."""
        context = multiprocessing.get_context("spawn")
        stop, count = context.Event(), context.Value("q", 0)
        ends = None if self.seconds is None else self.started + self.seconds
        with ProcessPoolExecutor(workers, context, _join, (stop, count, ends)) as pool:
            numbers, running = self.numbers(), set[Future[HardGame | None]]()
            try:
                while True:
                    more = itertools.islice(numbers, workers - len(running))
                    with _deaf():
                        running |= {pool.submit(_search, self.search, number) for number in more}
                    if not running:
                        return
                    done, running = wait(running, POLL, FIRST_COMPLETED)
                    for future in done:
                        self.keep(future.result())
                    self.tell(count.value)
            except KeyboardInterrupt:
                stop.set()
                for future in wait(running).done:
                    if future.exception() is None:
                        self.keep(future.result())
                self.evaluations = count.value
                raise
            finally:
                stop.set()

    def keep(self, find: HardGame | None) -> None:
        """Keep what a restart has found."""
        if find is not None:
            self.finds.append(find)

    def tell(self, evaluations: int) -> None:
        """Say how far the search has come, by the budget that will end it first."""
        self.evaluations = evaluations
        shares = []
        if self.restarts is not None:
            shares.append((evaluations, self.restarts * self.search.steps))
        if self.seconds is not None:
            spent = min(time.time() - self.started, self.seconds)
            shares.append((int(1000 * spent), max(1, int(1000 * self.seconds))))
        self.progress(*max(shares, key=lambda share: share[0] / share[1]))


def climb(restart: Restart, tick: Callable[[], bool]) -> None:
    """Take all steps of a restart, or as many as there are until `tick` says that it is over."""
    while restart.evaluations < restart.search.steps:
        restart.step()
        if tick():
            return


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that are started here do not hear an interrupt, not even while they start."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


_shared: dict[str, Any] = {}  # of a process of the crew: the signal to stop, the count, the end


def _join(stop: Any, count: Any, ends: float | None) -> None:
    """Begin as a process of the crew; an interrupt is the first process's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _shared.update(stop=stop, count=count, ends=ends)


def _search(search: GameSearch, number: int) -> HardGame | None:
    restart = Restart(search, number)

    def tick() -> bool:
        with _shared["count"].get_lock():
            _shared["count"].value += 1
        late = _shared["ends"] is not None and time.time() > _shared["ends"]
        return late or bool(_shared["stop"].is_set())

    climb(restart, tick)
    return restart.find()
