"""Connections of people without a key: they cost little, and lock nobody out."""

import asyncio
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from belated.service.run import connections
from belated.service.run.app import Settings
from belated.service.run.fair_acceptor import WorkerPlace
from belated.service.run.server import PlacedServer, config_of
from tests.service.server import SECONDS, Server, serving
from tests.service.web.test_keys import made_key

MEGABYTE = 1_000_000
MUCH = 200 * MEGABYTE  # what a connection tries to send
FEW_FILES = 200
HEAD = b"POST /v1/tell:batch HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n"
ENDLESS = {
    "many headers": (HEAD, b"".join(b"X-%d: y\r\n" % number for number in range(5_000))),
    "one header": (HEAD + b"X: ", b"y" * 50_000),
    "one address": (b"GET /", b"y" * 50_000),
    "trailers": (CHUNKED + b"1\r\n{\r\n0\r\n", b"X: y\r\n" * 10_000),
    "one trailer": (CHUNKED + b"1\r\n{\r\n0\r\nX: ", b"y" * 50_000),
    "chunk extension": (CHUNKED + b"1;", b"y" * 50_000),
    "small chunks": (CHUNKED, b"1\r\n \r\n" * 10_000),
    "empty lines": (b"", b"\r\n" * 25_000),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service that wants keys."""
    database = str(tmp_path_factory.mktemp("guarded") / "belated.db")
    made_key(database, "admin:*")
    with serving(database, "--log-level", "error") as running:
        yield running


@contextmanager
def connection(address: str, *sent: bytes) -> Iterator[socket.socket]:
    """A connection to a service, over which something was sent."""
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname, parts.port), SECONDS) as opened:
        for each in sent:
            opened.sendall(each)
        yield opened


def answer(opened: socket.socket) -> bytes:
    """What comes until the other side closes the connection."""
    found = b""
    with suppress(ConnectionResetError):
        while part := opened.recv(65536):
            found += part
    return found


@pytest.mark.parametrize("what", list(ENDLESS))
def test_what_has_no_end_is_cut_off(server: Server, what: str) -> None:
    """Headers, trailers and chunks of a stranger, without end: soon closed, hardly any memory."""
    address, (start, more) = server.address, ENDLESS[what]
    process, sent = psutil.Process(server.process.pid), 0
    before = process.memory_info().rss
    with connection(address, start) as opened, suppress(ConnectionError):
        while sent < MUCH:
            opened.sendall(more)
            sent += len(more)
    assert sent < 20 * MEGABYTE  # most of it waits in the buffers of the network
    assert process.memory_info().rss - before < 30 * MEGABYTE
    with server.client() as http:
        assert http.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (HEAD + b"X: " + b"y" * 100_000, b"431"),
        (HEAD + b"X: y\r\n" * 200 + b"\r\n", b"431"),
        (b"\x16\x03\x01 nonsense\r\n\r\n", b"400"),
    ],
)
def test_a_refusal_says_why(server: Server, sent: bytes, status: bytes) -> None:
    """In the form of all others, before the connection is closed."""
    with connection(server.address, sent) as opened:
        found = answer(opened)
    assert found.startswith(b"HTTP/1.1 " + status)
    assert b"application/problem+json" in found


@contextmanager
def few_files() -> Iterator[None]:
    """What is started meanwhile may open few files."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW_FILES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTTP/1.1\r\nHost: ", CHUNKED])
def test_half_open_connections_lock_nobody_out(tmp_path: Path, sent: bytes) -> None:
    """More of them than the process may have files; a request in between is answered, and after."""
    with few_files():
        server = Server(str(tmp_path / "belated.db"), "--no-auth")
    address, held = server.address, []
    try:
        with server.client() as patient:
            assert patient.get("/healthz").status_code == 200
            for _ in range(FEW_FILES + 50):
                opened = connection(address, *([sent] if sent else []))
                with suppress(ConnectionError):
                    opened.__enter__()
                held.append(opened)
            with server.client() as http:
                body = {"name": "ads", "arms": ["red", "green"]}
                assert http.post("/v1/problems", json=body).status_code == 201
                assert http.post("/v1/problems/ads/ask").status_code == 200
    finally:
        for opened in held:
            with suppress(ConnectionError):
                opened.__exit__(None, None, None)
        assert server.stop() == 0


async def closed_when_overdue(database: str, *sent: bytes) -> list[bytes]:
    """What connections get that send this and then nothing more."""
    server = PlacedServer(config_of(Settings(database, guarded=False)), WorkerPlace(lambda: None))
    server.config.port = 0
    running = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    found = []
    for each in sent:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(each)
        found.append(await asyncio.wait_for(reader.read(), SECONDS))
        writer.close()
    server.should_exit = True
    await running
    return found


def test_a_request_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing, half a head, half a body, and half a second request: each is closed in time."""
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.1)
    half = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    found = asyncio.run(
        closed_when_overdue("memory:", b"", half, CHUNKED + b"1\r\n", half + b"\r\n" + half)
    )
    assert [each.count(b" 408 ") for each in found] == [1, 1, 1, 1]
    assert found[3].startswith(b"HTTP/1.1 200")


def test_the_limits_leave_files_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many connections as files, less a reserve, and never more than there is memory for."""
    for files, most in ((1024, 924), (10**6, 4096), (150, 75)):
        monkeypatch.setattr(connections, "most_files", lambda files=files: files)
        assert connections.limits_for(MEGABYTE).connections == most
