"""Clients that call an app in this process, each waiting for its answer before it asks again."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.types import ASGIApp, Message, Scope

from benchmarks.asks.empty import HEADERS, LOOPBACK, PATH


class Called:
    """An app in this process, called by `clients` clients that wait for their answers."""

    def __init__(self, app: ASGIApp, clients: int, runner: asyncio.Runner) -> None:
        self._app, self._clients, self._runner = app, clients, runner

    def __call__(self, count: int) -> None:
        self._runner.run(together(self._ask, self._clients, count))

    async def _ask(self) -> None:
        status = 0

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)

        await self._app(scope_of_an_ask(), receive, send)
        check(status)


def scope_of_an_ask() -> Scope:
    """Return the request in the form in which a server passes it to an app."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "server": (LOOPBACK, 80),
        "client": (LOOPBACK, 1),
        "scheme": "http",
        "method": "POST",
        "root_path": "",
        "path": PATH,
        "raw_path": PATH.encode(),
        "query_string": b"",
        "headers": [(name.lower().encode(), text.encode()) for name, text in HEADERS.items()],
        "state": {},
    }


@contextmanager
def called(app: Starlette, clients: int, runner: asyncio.Runner) -> Iterator[Called]:
    """Run an app from its start-up to its shutdown; yields it with its clients."""
    lifespan = app.router.lifespan_context(app)
    runner.run(lifespan.__aenter__())
    try:
        yield Called(app, clients, runner)
    finally:
        runner.run(lifespan.__aexit__(None, None, None))


async def together(ask: Callable[[], Any], clients: int, count: int) -> None:
    """Let all clients ask, each one request after the other, `count` requests in total."""

    async def client(number: int) -> None:
        for _ in range(number):
            await ask()

    shares = [count // clients + (place < count % clients) for place in range(clients)]
    await asyncio.gather(*(client(share) for share in shares))


def check(status: int) -> None:
    """Raise an error if an answer is not a success, so that no error counts as a fast answer."""
    if status != 200:
        raise RuntimeError(f"an ask was answered with {status}")
