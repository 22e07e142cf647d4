"""Clients that call a server in another process over the loopback interface."""

import asyncio
import multiprocessing
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from benchmarks.asks.calls import check, together
from benchmarks.asks.empty import HEADERS, LOOPBACK, PATH

PATIENCE = 600  # seconds that a connection waits for its turn


class Connected:
    """A server, asked over as many connections as there are clients."""

    def __init__(self, port: int, clients: int, runner: asyncio.Runner) -> None:
        self._runner = runner
        self._free = [runner.run(Connection.to(port)) for _ in range(clients)]

    def __call__(self, count: int) -> None:
        self._runner.run(together(self._ask, len(self._free), count))

    async def _ask(self) -> None:
        connection = self._free.pop()
        check(await connection.ask())
        self._free.append(connection)

    def close(self) -> None:
        """Close all connections."""
        for connection in self._free:
            connection.close()


class Connection(asyncio.Protocol):
    """A connection that sends one request after the other and reads only the status of answers."""

    REQUEST = (
        f"POST {PATH} HTTP/1.1\r\n"
        + "".join(f"{name}: {text}\r\n" for name, text in HEADERS.items())
        + "\r\n"
    ).encode()

    def __init__(self) -> None:
        self._transport: Any = None
        self._answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._received = b""

    @classmethod
    async def to(cls, port: int) -> "Connection":
        """Open a connection to a port of this machine."""
        loop = asyncio.get_running_loop()
        return (await loop.create_connection(cls, LOOPBACK, port))[1]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note that the connection is open."""
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is lost."""
        if not self._answer.done():
            self._answer.set_exception(exc or ConnectionError("the server has hung up"))

    def data_received(self, data: bytes) -> None:
        """Receive an answer, or a part of it."""
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if end and len(body) >= length_in(head) and not self._answer.done():
            self._answer.set_result(int(head[9:12]))

    async def ask(self) -> int:
        """Ask, and wait for the status of the answer."""
        self._answer, self._received = asyncio.get_running_loop().create_future(), b""
        self._transport.write(self.REQUEST)
        return await self._answer

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()


def length_in(head: bytes) -> int:
    """Return the length of the body that the head of an answer announces."""
    return int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])


@contextmanager
def served(
    making: Callable[..., ASGIApp], *arguments: Any, clients: int, runner: asyncio.Runner
) -> Iterator[Connected]:
    """Serve the app that `making` makes in a process of its own; yields its clients."""
    with socket.create_server((LOOPBACK, 0), backlog=2 * clients) as listening:
        process = multiprocessing.get_context("spawn").Process(
            target=serve, args=(listening, making, arguments), daemon=True
        )
        process.start()
        port = listening.getsockname()[1]
    try:
        with closing(Connected(port, clients, runner)) as connected:
            yield connected
    finally:
        process.terminate()
        process.join()


def serve(listening: socket.socket, making: Callable[..., ASGIApp], arguments: Any) -> None:
    """Serve an app with the settings of the service, until this process is ended."""
    config = uvicorn.Config(
        making(*arguments),
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_keep_alive=PATIENCE,
    )
    uvicorn.Server(config).run([listening])
