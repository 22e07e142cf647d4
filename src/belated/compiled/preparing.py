"""Compiling several entries side by side, on all cores, before they are needed.

numba compiles in one thread of a process, so several processes compile. The entries of one learner
share much of the work, and so they share a process, unless there are cores to spare.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from belated.compiled import entries
from belated.compiled.background import PAUSE, Compilation
from belated.compiled.entries import QUIET, Entry

Report = Callable[[list[str], int, int], None]


def prepare(wanted: Iterable[Entry]) -> None:
    """Compile what is not compiled yet of these entries, on all cores, and wait for it.

    A progress bar names what is being compiled and says how long it still takes. Entries whose code
    may not or cannot be kept are left to `obtain`.
    """
    distinct = dict.fromkeys(wanted)
    waiting = [each for each in distinct if _is_for_a_process(each) and entries.find(each) is None]
    if len(waiting) < 2 or not entries.can_compile():
        return  # this process compiles one as fast as another one would
    with _progress() as report:
        cores = os.cpu_count() or 1
        groups = shared_out(waiting, cores)
        total, running = len(groups), list[Compilation]()
        while groups or running:
            while groups and len(running) < cores:
                running.append(Compilation(*groups.pop(0)))
            for each in [each for each in running if each.is_over()]:
                running.remove(each)
                each.close()
            names = [each.entries[0].title for each in running]
            report(names, total - len(groups) - len(running), total)
            time.sleep(PAUSE)


def shared_out(waiting: list[Entry], cores: int) -> list[list[Entry]]:
    """Return the entries in groups, one for each process: by learner, if these are enough."""
    groups: dict[str, list[Entry]] = {}
    for entry in waiting:
        groups.setdefault(entry.title.split()[0], []).append(entry)
    if len(groups) < cores:
        return [[entry] for entry in waiting]
    return list(groups.values())


def _is_for_a_process(entry: Entry) -> bool:
    return entry.may_be_kept and entry.path is not None


@contextmanager
def _progress() -> Iterator[Report]:
    """Show a progress bar on a terminal, and a line elsewhere; nothing if BELATED_QUIET is set."""
    if os.environ.get(QUIET) or sys.stderr is None or not sys.stderr.isatty():
        entries.say(entries.COMPILING)
        yield lambda names, done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr), transient=True) as progress:
        task = progress.add_task("Compiling", total=None)

        def report(names: list[str], done: int, total: int) -> None:
            title = f"Compiling {', '.join(names)}"
            progress.update(task, description=title, completed=done, total=total)

        yield report
