"""Connections are spread over workers: each accepts one at a time, and not while it has the most.

Workers listen on one socket, so a connection goes to whichever worker takes it. The event loop's
own server takes all that wait, and a crowd that connects at once ends up at one worker while the
others are idle. Here a worker that has more connections than another leaves a new one to that, for
a few milliseconds: the other may be stuck, and then it takes the connection all the same.
"""

import asyncio
import socket
from collections.abc import Callable, Collection, MutableSequence
from typing import NamedTuple

PAUSE = 0.001  # seconds for which a connection is left to others
MOST_PAUSES = 3
OUT_OF_FILES = 0.1  # seconds to wait when no connection can be accepted
NOT_SERVING = -1


class WorkerPlace(NamedTuple):
    """The place of a worker among others; it is called when the worker serves.

    `connections` has the numbers of connections of all workers by place, shared by the processes.
    Without others it is empty.
    """

    ready: Callable[[], None]
    place: int = 0
    connections: MutableSequence[int] = ()  # type: ignore[assignment]

    def __call__(self) -> None:
        """Say that this worker serves."""
        self.ready()

    def tell_others(self, number: int) -> None:
        """Tell the others how many connections this worker has."""
        if self.connections:
            self.connections[self.place] = number

    def has_more_than_another(self, number: int) -> bool:
        """Whether a worker that serves has fewer connections than this number."""
        return any(
            each != NOT_SERVING and each < number
            for place, each in enumerate(self.connections)
            if place != self.place
        )


class FairAcceptor:
    """Accepts the connections of one worker, and makes a protocol for each."""

    def __init__(
        self,
        listening: socket.socket,
        place: WorkerPlace,
        make: Callable[[], asyncio.Protocol],
        connections: Collection[object],
    ) -> None:
        self._listening, self._place, self._make = listening, place, make
        self._connections, self._pauses = connections, 0
        self._loop = asyncio.get_running_loop()
        self._beginning: set[asyncio.Task[object]] = set()
        self._closed = False
        listening.setblocking(False)
        self.count()
        self._listen()

    def count(self) -> None:
        """Tell the other workers how many connections this one has."""
        self._place.tell_others(self._number())

    def close(self) -> None:
        """Accept no more."""
        self._closed = True
        self._loop.remove_reader(self._listening)
        self._place.tell_others(NOT_SERVING)

    def _number(self) -> int:
        return len(self._connections) + len(self._beginning)

    def _listen(self) -> None:
        if not self._closed:
            self._loop.add_reader(self._listening, self._accept)

    def _pause(self, seconds: float) -> None:
        self._loop.remove_reader(self._listening)
        self._loop.call_later(seconds, self._listen)

    def _accept(self) -> None:
        """Take one connection, or leave it to another worker for a moment."""
        if self._pauses < MOST_PAUSES and self._place.has_more_than_another(self._number()):
            self._pauses += 1
            self._pause(PAUSE)
            return
        self._pauses = 0
        try:
            accepted, _ = self._listening.accept()
        except (BlockingIOError, ConnectionAbortedError):  # another took it, or it is gone
            return
        except OSError:
            self._pause(OUT_OF_FILES)
            return
        accepted.setblocking(False)
        making = self._loop.connect_accepted_socket(self._make, accepted)
        task = self._loop.create_task(making)
        self._beginning.add(task)
        task.add_done_callback(self._begun)
        self.count()

    def _begun(self, task: "asyncio.Task[object]") -> None:
        self._beginning.discard(task)
        if not task.cancelled():
            task.exception()  # it was closed at once; no one else wants to know
        self.count()
