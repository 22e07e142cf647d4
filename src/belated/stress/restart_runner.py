"""Runs the restarts of a search, one after the other or in several processes."""

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

from belated.interrupts import noticed_interrupts
from belated.stress.annealing import GameSearch, Restart
from belated.stress.hard_games import HardGame

Progress = Callable[[int, int], None]

POLL = 0.1  # seconds between two checks of the other processes


@dataclass
class RestartRunner:
    """Runs the restarts of one search and keeps the games that they find."""

    search: GameSearch
    restarts: int | None
    seconds: float | None
    progress: Progress
    hard_games: list[HardGame] = field(default_factory=list)
    evaluations: int = 0
    interrupted: bool = False
    started: float = field(default_factory=lambda: time.time())

    def numbers(self) -> Iterator[int]:
        """Yield the numbers of the restarts, until the time is over."""
        endless = itertools.count()
        numbers = endless if self.restarts is None else itertools.islice(endless, self.restarts)
        return itertools.takewhile(lambda number: not self.over(), numbers)

    def over(self) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and time.time() - self.started > self.seconds

    def alone(self) -> None:
        """Run all restarts in this process."""
        for number in self.numbers():
            restart, before = Restart(self.search, number), self.evaluations

            def tick(restart: Restart = restart, before: int = before) -> bool:
                self.tell(before + restart.evaluations)
                return self.over()

            try:
                climb(restart, tick)
            finally:
                self.keep(restart.hardest_game())

    def together(self, workers: int) -> None:
        """Run the restarts in several processes."""
        context = multiprocessing.get_context("spawn")
        stop, count = context.Event(), context.Value("q", 0)
        ends = None if self.seconds is None else self.started + self.seconds
        pooled = ProcessPoolExecutor(workers, context, _join, (stop, count, ends))
        with noticed_interrupts() as interrupts, pooled as pool:
            numbers, running = self.numbers(), set[Future[HardGame | None]]()
            try:
                while not interrupts.came:
                    more = itertools.islice(numbers, workers - len(running))
                    with _deaf():
                        running |= {pool.submit(_search, self.search, number) for number in more}
                    if not running:
                        return
                    done, running = wait(running, POLL, FIRST_COMPLETED)
                    for future in done:
                        self.keep(future.result())
                    self.tell(count.value)
            finally:
                stop.set()
            for future in wait(running).done:
                if future.exception() is None:
                    self.keep(future.result())
            self.evaluations = count.value
        raise KeyboardInterrupt

    def keep(self, found: HardGame | None) -> None:
        """Keep the game that a restart has found, if any."""
        if found is not None:
            self.hard_games.append(found)

    def tell(self, evaluations: int) -> None:
        """Report progress, by the budget that will end the search first."""
        self.evaluations = evaluations
        shares = []
        if self.restarts is not None:
            shares.append((evaluations, self.restarts * self.search.steps))
        if self.seconds is not None:
            spent = min(time.time() - self.started, self.seconds)
            shares.append((int(1000 * spent), max(1, int(1000 * self.seconds))))
        self.progress(*max(shares, key=lambda share: share[0] / share[1]))


def climb(restart: Restart, tick: Callable[[], bool]) -> None:
    """Take the steps of a restart until all are done or `tick` returns True."""
    while restart.evaluations < restart.search.steps:
        restart.step()
        if tick():
            return


@contextmanager
def _deaf() -> Iterator[None]:
    """Ignore interrupts in this process, so that processes started meanwhile ignore them, too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


_shared: dict[str, Any] = {}  # in a worker process: stop event, count of evaluations, end of time


def _join(stop: Any, count: Any, ends: float | None) -> None:
    """Prepare a worker process; interrupts are handled by the first process."""
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
    return restart.hardest_game()
