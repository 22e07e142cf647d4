"""Single asks and tells take a short way past the framework, and are answered as on the other."""

import asyncio
import json
import re
from collections.abc import Iterator

import pytest

from belated.service.admin.keys import hash_of
from belated.service.run.app import Settings
from belated.service.run.connections import close_overdue
from belated.service.run.direct_requests import direct_request
from belated.service.run.fair_acceptor import WorkerPlace
from belated.service.run.server import KEEP_ALIVE, PlacedServer, config_of
from belated.service.web import fast_routes
from tests.service.server import SECONDS

KEY, POOR = "belated_rich", "belated_poor"
ORDINARY = b"X-Forwarded-Proto: http\r\n"  # with this header a request takes the ordinary way
CHANGING = re.compile(rb"(ticket '|\"ticket\":\")[0-9a-z]{26}|\"round\":\d+|date: .*")
ASK, TELL = b"/v1/problems/ads/ask", b"/v1/tickets/%s/tell"
JSON = b"Content-Type: application/json\r\n"
NO_TICKET = b"0" * 26


class Wire:
    """One connection to a service in this process."""

    def __init__(
        self, server: PlacedServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.server, self.reader, self.writer = server, reader, writer

    async def post(
        self, path: bytes, body: bytes = b"", more: bytes = b"", key: str = KEY
    ) -> bytes:
        """A request and its whole answer."""
        self.writer.write(request(path, body, more, key))
        return await asyncio.wait_for(self.answer(), SECONDS)

    async def answer(self) -> bytes:
        """The next answer."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        assert length is not None
        return head + await self.reader.readexactly(int(length[1]))

    async def ticket(self, more: bytes = b"") -> bytes:
        """A new ticket."""
        answer = await self.post(ASK, more=more)
        return str(json.loads(answer.partition(b"\r\n\r\n")[2])["ticket"]).encode()


def request(path: bytes, body: bytes = b"", more: bytes = b"", key: str = KEY) -> bytes:
    """A request as bytes; `more` are further headers."""
    kind = JSON if body and b"Content-Type" not in more else b""
    shown = b"Authorization: Bearer %s\r\n" % key.encode() if key else b""
    length = b"Content-Length: %d\r\nX-Request-Id: mine\r\n" % len(body)
    head = b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\n"
    return head + shown + kind + length + more + b"\r\n" + body


async def running(use: object) -> None:
    """Call `use` with a connection to a service that wants keys."""
    server = PlacedServer(config_of(Settings("memory:")), WorkerPlace(lambda: None))
    server.config.port = 0
    serving = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.01)
    bridge = server.config.app.state.bridge  # type: ignore[union-attr]
    for key, scopes in ((KEY, ["admin:*"]), (POOR, ["tell:other"])):
        bridge.store.keys.add(hash_of(key), scopes, key, 1.0)
    await bridge.renew_keys()
    port = server.servers[0].sockets[0].getsockname()[1]
    wire = Wire(server, *await asyncio.open_connection("127.0.0.1", port))
    try:
        made = b'{"name":"ads","arms":["red"],"learner":"exp3"}'
        assert b" 201 " in await wire.post(b"/v1/problems", made)
        await use(wire)  # type: ignore[operator]
    finally:
        wire.writer.close()
        server.should_exit = True
        await serving


def requests_of(ticket: bytes) -> Iterator[tuple[bytes, bytes, bytes, str]]:
    """Good ones and bad ones: path, body, further headers and key."""
    told = TELL % ticket
    yield ASK, b"", b"", KEY
    yield ASK, b"{}", b"", KEY
    yield ASK, b'{"count":3}', b"", KEY
    yield ASK, b"", b"", ""
    yield ASK, b"", b"", "belated_unknown"
    yield ASK, b"", b"", POOR
    yield ASK, b"", b"Idempotency-Key: visit-17\r\n", KEY
    yield ASK, b"", b"Idempotency-Key: visit-17\r\n", KEY
    yield ASK, b"", b"Idempotency-Key: \xe4\r\n", KEY
    yield b"/v1/problems/nosuch/ask", b"", b"", KEY
    yield told, b'{"loss":2}', b"", KEY
    yield told, b'{"loss":', b"", KEY
    yield told, b"", b"", KEY
    yield told, b'{"loss":0.5}', b"Content-Type: text/plain\r\n", KEY
    yield told, b'{"loss":0.5}', b"", POOR
    yield told, b'{"loss":0.5}', b"", KEY
    yield told, b'{"loss":0.5}', b"", KEY
    yield told, b'{"loss":0.75}', b"", KEY
    yield TELL % NO_TICKET, b'{"reward":1}', b"", KEY


def test_both_ways_give_the_same_answers() -> None:
    """Status, headers and body, for good requests and for bad ones."""

    async def use(wire: Wire) -> None:
        short, ordinary = await wire.ticket(), await wire.ticket(ORDINARY)
        statuses = []
        for mine, other in zip(requests_of(short), requests_of(ordinary), strict=True):
            path, body, more, key = mine
            answer = await wire.post(path, body, more, key)
            path, body, more, key = other
            expected = await wire.post(path, body, more + ORDINARY, key)
            assert CHANGING.sub(b"", answer) == CHANGING.sub(b"", expected), mine
            statuses.append(int(answer[9:12]))
        assert set(statuses) == {200, 401, 403, 404, 409, 415, 422}

    asyncio.run(running(use))


def test_the_short_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an ordinary way that fails, single asks and tells are answered."""

    async def use(wire: Wire) -> None:
        monkeypatch.setattr(fast_routes.FastRoutes, "__call__", None)
        ticket = await wire.ticket()
        assert b'"counted":true' in await wire.post(TELL % ticket, b'{"loss":0.5}')

    asyncio.run(running(use))


def test_requests_may_come_in_a_row() -> None:
    """Several on one connection without waiting, of either kind: answered in their order."""

    async def use(wire: Wire) -> None:
        ticket = await wire.ticket()
        told = request(TELL % ticket, b'{"loss":0.5}')
        wire.writer.write(told + request(ASK) + told + request(ASK, b"", ORDINARY) + told)
        answers = [await asyncio.wait_for(wire.answer(), SECONDS) for _ in range(5)]
        assert [b'"counted":true' in each for each in answers] == [True] + 4 * [False]
        assert [b'"probability"' in each for each in answers] == [False, True, False, True, False]
        for part in (told[:30], told[30:-5], told[-5:]):
            wire.writer.write(part)
            await asyncio.sleep(0.01)
        assert b'"counted":false' in await asyncio.wait_for(wire.answer(), SECONDS)

    asyncio.run(running(use))


def test_an_idle_connection_is_closed_in_time() -> None:
    """No timer runs after the short way, so the look for overdue connections must see to it."""

    async def use(wire: Wire) -> None:
        await wire.ticket()
        connections = wire.server.server_state.connections
        now = asyncio.get_running_loop().time()
        close_overdue(connections, now + 0.9 * KEEP_ALIVE)
        await wire.ticket()
        now = asyncio.get_running_loop().time()
        close_overdue(connections, now + 1.1 * KEEP_ALIVE)
        assert await asyncio.wait_for(wire.reader.read(), SECONDS) == b""

    asyncio.run(running(use))


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        (ASK + b"?x=1", []),
        (b"/v1/problems/%61ds/ask", []),
        (b"/v1/problems/ads/ask:batch", []),
        (b"/v1/problems/ads/ask/", []),
        (TELL % b"short", []),
        (ASK, [(b"transfer-encoding", b"chunked")]),
        (ASK, [(b"expect", b"100-continue")]),
        (ASK, [(b"x-forwarded-for", b"10.0.0.1")]),
        (ASK, [(b"content-length", b"5000")]),
        (ASK, [(b"content-length", b"+5")]),
    ],
)
def test_what_is_unusual_takes_the_ordinary_way(
    url: bytes, headers: list[tuple[bytes, bytes]]
) -> None:
    """Whatever the short way would have to treat with more care."""
    assert direct_request(url, headers) is None
    assert direct_request(ASK, [(b"content-length", b"0")]) is not None
