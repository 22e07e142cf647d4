"""Connections are spread over workers that share a socket."""

import asyncio
import socket

from belated.service.run.fair_acceptor import NOT_SERVING, FairAcceptor, WorkerPlace

CROWD = 40
SECONDS = 60.0


class Connection(asyncio.Protocol):
    """A connection that is known to its worker."""

    def __init__(self, known: set[object]) -> None:
        self._known = known

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._known.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._known.discard(self)


async def accepted(connections: list[int], mine: int) -> list[int]:
    """How many connections each worker has, after a crowd has connected to all that serve."""
    known: list[set[object]] = [set() for _ in connections]
    with socket.create_server(("127.0.0.1", 0), backlog=CROWD) as listening:
        shared = [listening.dup() for _ in range(mine)]
        workers = [
            FairAcceptor(
                shared[place],
                WorkerPlace(lambda: None, place, connections),
                lambda place=place: Connection(known[place]),
                known[place],
            )
            for place in range(mine)
        ]
        port = listening.getsockname()[1]
        writers = [(await asyncio.open_connection("127.0.0.1", port))[1] for _ in range(CROWD)]
        until = asyncio.get_running_loop().time() + SECONDS
        while sum(map(len, known)) < CROWD and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.001)
        found = [len(each) for each in known]
        for worker, own in zip(workers, shared, strict=True):
            worker.close()
            own.close()
        for writer in writers:
            writer.close()
            await writer.wait_closed()
        while any(known):
            await asyncio.sleep(0.001)
    return found


def test_each_worker_gets_its_part() -> None:
    """A crowd that connects at once is shared to within two; it would all go to the first."""
    found = asyncio.run(accepted([NOT_SERVING] * 4, 4))
    assert sum(found) == CROWD
    assert max(found) - min(found) <= 2


def test_a_worker_that_is_stuck_holds_nobody_up() -> None:
    """It has no connections, accepts none, and the other takes them all after a moment."""
    assert asyncio.run(accepted([NOT_SERVING, 0], 1)) == [CROWD, 0]


def test_a_worker_that_does_not_serve_is_not_waited_for() -> None:
    """One that starts, or has died, counts for nothing; nor does a place without others."""
    place = WorkerPlace(lambda: None, 0, [5, NOT_SERVING, 7])
    assert not place.has_more_than_another(7)
    assert place.has_more_than_another(8)
    alone = WorkerPlace(lambda: None)
    alone.tell_others(3)
    assert not alone.has_more_than_another(3)
