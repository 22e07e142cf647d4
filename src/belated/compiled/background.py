"""Compiling in the background: other processes compile, and steps are exchanged when they are done.

A thread of this process starts one process for each entry that no one has compiled yet, as many at
a time as there are cores. It then loads the code and exchanges it for the interpreted step of every
runner that waits for it. An entry with code of a script is compiled by the thread itself, because
its code must not be kept where other processes read it.
"""

import logging
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from belated.compiled import entries
from belated.compiled.entries import Entry
from belated.compiled.kernels import MODE, compile_mode

log = logging.getLogger(__name__)
PAUSE = 0.05  # seconds between two looks at the compiling processes


def exchange(owner: Any, name: str, entry: Entry) -> None:
    """Set the attribute `name` of an object to the compiled entry, now or when it is compiled."""
    function = entries.find(entry)
    if function is None and entries.can_compile():
        if compile_mode() == "wait":
            function = entries.compile_here(entry)
        else:
            queue.add(owner, name, entry)
    if function is not None:
        setattr(owner, name, function)


class Compilation:
    """A process that compiles one entry or several of one learner, which share some of the work."""

    def __init__(self, *compiled: Entry) -> None:
        self.entries = compiled
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (it is read when the process ends)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "belated.compiled.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            env={**os.environ, MODE: "background", entries.QUIET: "1", "PYTHONPATH": _path()},
            start_new_session=True,  # Ctrl-C ends the work, and leaves the code to the next process
        )
        assert self._process.stdin is not None
        self._process.stdin.write(pickle.dumps(compiled))
        self._process.stdin.close()

    def is_over(self) -> bool:
        """Whether the process has ended, or another one has compiled the entry."""
        return self._process.poll() is not None

    def close(self) -> str:
        """Return the last line that the process, now over, said if it failed, else nothing."""
        with self._errors:
            if self._process.returncode == 0:
                return ""
            self._errors.seek(0)
            lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self._process.returncode}"


def _path() -> str:
    """The places where another process finds this package, and its dependencies."""
    return os.pathsep.join([str(Path(entries.__file__).parents[2]), *filter(None, sys.path)])


class Queue:
    """The entries that this process waits for, and who uses them when they are there."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start with nothing to wait for."""
        self._lock = threading.Lock()
        self._users: dict[Entry, list[tuple[weakref.ref[Any], str]]] = {}
        self._waiting: deque[Entry] = deque()
        self._failed: dict[Entry, str] = {}
        self._watchers: list[Callable[[int], Any]] = []
        self._thread: threading.Thread | None = None

    def add(self, owner: Any, name: str, entry: Entry) -> None:
        """Exchange an attribute of an object as soon as this entry is compiled."""
        with self._lock:
            if entry in self._failed:
                return
            if entry not in self._users:
                self._users[entry] = []
                self._waiting.append(entry)
                log.info("%s is interpreted until it is compiled", entry.title)
                self._tell_watchers()
            self._users[entry].append((weakref.ref(owner), name))
            if self._thread is None or not self._thread.is_alive():
                entries.say("compiling in the background; until then decisions are interpreted")
                self._thread = threading.Thread(target=self._work, daemon=True, name="compiling")
                self._thread.start()

    def watch(self, watcher: Callable[[int], Any]) -> None:
        """Call a function with the number of interpreted entries, now and whenever it changes."""
        with self._lock:
            self._watchers.append(watcher)
            self._tell_watchers()

    def _tell_watchers(self) -> None:
        for watcher in self._watchers:
            watcher(len(self._users) + len(self._failed))

    def interpreted(self) -> list[str]:
        """The titles of the entries that are still interpreted, in order."""
        with self._lock:
            return sorted(entry.title for entry in (*self._users, *self._failed))

    def wait(self, timeout: float) -> bool:
        """Wait until nothing is left to be compiled; returns whether that is so."""
        end = time.monotonic() + timeout
        while self._thread is not None and time.monotonic() < end:
            time.sleep(PAUSE)
        return self._thread is None

    def _work(self) -> None:
        """Compile until nothing is left; the thread ends then."""
        running: list[Compilation] = []
        while self._next(running):
            for each in [each for each in running if each.is_over()]:
                running.remove(each)
                self._finish(each.entries[0], each.close())
            time.sleep(PAUSE)

    def _next(self, running: list[Compilation]) -> bool:
        """Start what there are free cores for; returns whether there is anything to wait for."""
        while len(running) < (os.cpu_count() or 1):
            with self._lock:
                if not self._waiting:
                    if not running:
                        self._thread = None
                    return bool(running)
                entry = self._waiting.popleft()
            try:
                if entries.find(entry) is not None:
                    self._finish(entry)
                elif entry.may_be_kept and entry.path is not None:
                    running.append(Compilation(entry))
                else:
                    entries.compile_here(entry)
                    self._finish(entry)
            except Exception as error:  # whatever fails: the step stays interpreted
                self._finish(entry, str(error))
        return True

    def _finish(self, entry: Entry, failure: str = "") -> None:
        """Hand the compiled entry to all that wait for it, or note why there is none."""
        function: Callable[..., Any] | None = None
        if not failure:
            try:
                function = entries.find(entry)
            except Exception as error:  # code that cannot be loaded
                failure = str(error)
        with self._lock:
            users = self._users.pop(entry, [])
            if function is None:
                self._failed[entry] = failure or "its code was not kept"
                log.warning("%s stays interpreted: %s", entry.title, self._failed[entry])
                return
            self._tell_watchers()
        log.info("%s runs compiled", entry.title)
        for reference, name in users:
            owner = reference()
            if owner is not None:
                setattr(owner, name, function)


queue = Queue()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=queue.forget)  # a forked process has no thread
