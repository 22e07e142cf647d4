"""The server process: where it may listen, its log, and how it is stopped."""

import asyncio
import functools
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

import uvicorn

from belated.compiled.entries import QUIET
from belated.service.run.app import Settings, create_app
from belated.service.run.connections import LimitedProtocol, close_overdue, limits_for
from belated.service.run.direct_connections import DirectProtocol
from belated.service.run.direct_requests import DirectRequests
from belated.service.run.fair_acceptor import FairAcceptor, WorkerPlace
from belated.service.run.json_log import log_as_json
from belated.service.run.span_export import exporting_provider
from belated.service.run.worker_pool import supervise
from belated.service.store import open_store
from belated.service.web.forgery import is_loopback

GRACE = 20  # seconds for requests in progress when the service is stopped
KEEP_ALIVE = 75  # seconds that an idle connection is kept; longer than most clients keep it
BACKLOG = 2048
TICKS = 10  # of a tenth of a second, between two looks for overdue connections


def serve(
    settings: Settings,
    host: str,
    port: int,
    workers: int = 1,
    log_level: str = "info",
    announce: Callable[[str, str], None] = lambda address, library: None,
) -> None:
    """Serve until SIGTERM or Ctrl-C, then finish all requests and take a last snapshot."""
    library = checked(settings, host, workers)
    listening = bound(host, port)
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{listening.getsockname()[1]}"
    work = functools.partial(run, settings, log_level, listening)
    ready = functools.partial(announce, address, library)
    if workers == 1:
        work(WorkerPlace(ready))
    else:
        log_as_json(log_level)
        supervise(work, workers, ready)


def run(
    settings: Settings,
    log_level: str,
    listening: socket.socket,
    place: WorkerPlace,
) -> None:
    """Serve on a socket in this process, and call the place when it answers."""
    gc.disable()
    os.environ[QUIET] = "1"  # what is compiled is in the log
    for number in (
        signal.SIGTERM,
        signal.SIGINT,
    ):  # the server raises them again when it has finished
        signal.signal(number, lambda *_: None)
    log_as_json(log_level)
    server = PlacedServer(config_of(settings), place)
    server.run([listening])
    if not server.started:
        raise ValueError("the service could not start; its log says why")


def config_of(settings: Settings) -> uvicorn.Config:
    """How the server runs the app."""
    provider = exporting_provider() if settings.tracing else None
    app = create_app(settings, tracer_provider=provider)
    protocol: Any = functools.partial(LimitedProtocol, limits=limits_for(settings.most_bytes))
    if provider is None:  # spans are made on the ordinary way
        protocol = functools.partial(
            DirectProtocol, limits=limits_for(settings.most_bytes), direct=DirectRequests(app)
        )
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
    )


class PlacedServer(uvicorn.Server):
    """A server that has a place, says when it is ready, and closes overdue connections.

    Beside other workers it takes only its part of the connections.
    """

    def __init__(self, config: uvicorn.Config, place: WorkerPlace) -> None:
        super().__init__(config)
        self._place = place
        self._acceptors: list[FairAcceptor] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        shared = sockets if self._place.connections and sys.platform != "win32" else None
        await super().startup(sockets if shared is None else [])
        gc.freeze()  # these objects stay, so garbage collections need not visit them
        gc.enable()
        if self.started:
            known = self.server_state.connections
            for each in shared or ():
                self._acceptors.append(FairAcceptor(each, self._place, self._protocol, known))
            self._place()

    def _protocol(self) -> asyncio.Protocol:
        """The protocol of a new connection."""
        make: Any = self.config.http_protocol_class
        found: asyncio.Protocol = make(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return found

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second; True ends the server."""
        for each in self._acceptors:
            each.count()
        if counter % TICKS == 0:
            close_overdue(self.server_state.connections, asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more, and finish what is in progress."""
        for each in self._acceptors:
            each.close()
        app: Any = self.config.app
        app.state.bridge.end_long_work()
        await super().shutdown(sockets)


def checked(settings: Settings, host: str, workers: int) -> str:
    """Refuse settings that are unsafe or cannot work; returns the name of the database."""
    if not settings.guarded and not is_loopback(host):
        raise ValueError(
            f"host is {host!r}, which others can reach; without keys the service listens on "
            "127.0.0.1 only"
        )
    with open_store(settings.database, settings.durability) as store:
        if store.one_owner and workers > 1:
            raise ValueError(
                f"workers is {workers}; one process owns a SQLite store, so use PostgreSQL for more"
            )
        if settings.guarded and not any(key.revoked_at is None for key in store.keys.all()):
            raise ValueError(
                "there is no key, so no one could ask; make one with `belated keys create`, or "
                "serve with --no-auth on this machine only"
            )
        return store.library


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; ValueError if that is not possible."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        raise ValueError(f"{host}:{port} cannot be listened on: {error.strerror}") from None
    listening.set_inheritable(True)
    return listening
