"""Clients that ask and tell over plain sockets, as lean as Python allows.

A client that costs as much as the service would measure itself. One loop serves all clients here: a
request is bytes that were made before, and of an answer only the status, the length and the ticket
are looked at. It takes some 20 us a request, where a usual HTTP client takes ten times that.
"""

import itertools
import selectors
import socket
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from urllib.parse import urlsplit

import numpy as np

ASK, TELL = "ask", "tell"
PATIENCE = 60.0  # seconds that an answer may take
TICKET, LENGTH, AGAIN = b'"ticket":"', b"content-length:", b"retry-after:"
HEAD = "POST {path} HTTP/1.1\r\nHost: {host}\r\n{key}"


@dataclass
class Load:
    """What clients have seen: the seconds of each answer by kind, refusals, and tickets."""

    seconds: float = 0.0
    latencies: dict[str, list[float]] = field(default_factory=lambda: {ASK: [], TELL: []})
    refused: int = 0  # 503, to come again later
    failed: int = 0  # any other answer, and connections that were lost
    tickets: list[bytes] = field(default_factory=list)
    told: list[bytes] = field(default_factory=list)

    @property
    def answered(self) -> int:
        """The number of asks and tells that were carried out."""
        return sum(map(len, self.latencies.values()))

    @property
    def rate(self) -> float:
        """Asks and tells a second."""
        return self.answered / self.seconds

    def quantile(self, share: float, kind: str | None = None) -> float:
        """The time in which this share of the answers came, in seconds."""
        kinds = (ASK, TELL) if kind is None else (kind,)
        return float(np.quantile([took for each in kinds for took in self.latencies[each]], share))


class Client:
    """One client: it asks, tells a ticket of `lag` asks ago, asks again, and so on.

    With `bodies` its asks have these in turn.
    """

    def __init__(
        self, address: str, path: str, key: str | None, lag: int, bodies: Sequence[bytes] = (b"",)
    ) -> None:
        where = urlsplit(address)
        assert where.hostname is not None
        self.socket = socket.create_connection((where.hostname, where.port or 80))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        shown = "" if key is None else f"Authorization: Bearer {key}\r\n"
        self._head = HEAD.format(path="{path}", host=where.netloc, key=shown)
        self._asks = itertools.cycle([self._with_body(path, body) for body in bodies])
        self._lag, self._open, self._received = lag, deque[bytes](), b""
        self.kind, self.ticket, self.sent = TELL, b"", 0.0

    def next(self) -> None:
        """Send the next request."""
        if self.kind == ASK and len(self._open) > self._lag:
            self.kind, self.ticket = TELL, self._open.popleft()
        else:
            self.kind = ASK
        self.send()

    def send(self) -> None:
        """Send the present request, for the first time or again."""
        request = next(self._asks) if self.kind == ASK else self._tell()
        self.sent, self._received = time.perf_counter(), b""
        self.socket.sendall(request)

    def _tell(self) -> bytes:
        """A report of a loss that depends on the ticket alone."""
        body = b'{"loss":0.%d}' % (self.ticket[-1] % 10)
        return self._with_body(f"/v1/tickets/{self.ticket.decode()}/tell", body)

    def _with_body(self, path: str, body: bytes) -> bytes:
        """A request with this body; without one, if it is empty."""
        kind = "Content-Type: application/json\r\n" if body else ""
        rest = f"{kind}Content-Length: {len(body)}\r\n\r\n"
        return self._head.format(path=path).encode() + rest.encode() + body

    def receive(self) -> tuple[int, float] | None:
        """Read what has come: the status, and seconds after which to come again; None if a part."""
        data = self.socket.recv(65_536)
        if not data:
            raise ConnectionError("the server has hung up")
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end or len(body) < number_after(LENGTH, head):
            return None
        status = int(head[9:12])
        if status == 200 and self.kind == ASK:
            place = body.index(TICKET) + len(TICKET)
            self.ticket = body[place : body.index(b'"', place)]
            self._open.append(self.ticket)
        return status, number_after(AGAIN, head) if status == 503 else 0.0


def number_after(name: bytes, head: bytes) -> int:
    """The number in a header of an answer; 0 if it is not there."""
    place = head.lower().find(name)
    return int(head[place + len(name) :].partition(b"\r\n")[0]) if place >= 0 else 0


class Crowd:
    """Many clients of one service, each waiting for its answer before it sends the next request."""

    def __init__(
        self,
        address: str,
        problems: Sequence[str],
        clients: int,
        key: str | None = None,
        lag: int = 0,
        bodies: Sequence[bytes] = (b"",),
    ) -> None:
        self._selector = selectors.DefaultSelector()
        paths = [f"/v1/problems/{name}/ask" for name in problems]
        self._clients = [
            Client(address, paths[place % len(paths)], key, lag, bodies) for place in range(clients)
        ]
        for client in self._clients:
            self._selector.register(client.socket, selectors.EVENT_READ, client)

    def run(self, seconds: float, pause: float = 0.0) -> Load:
        """Let all clients work for so long, each with a pause before it asks again."""
        load, waiting, resting = Load(), len(self._clients), list[tuple[float, int, Client]]()
        began = time.perf_counter()
        end, number = began + seconds, 0
        for client in self._clients:
            client.next()
        while waiting or resting:
            now = time.perf_counter()
            while resting and resting[0][0] <= now:
                _, _, client = heappop(resting)
                waiting += 1
                client.send()
            left = resting[0][0] - now if resting else PATIENCE
            events = self._selector.select(left)
            if not events and not resting:
                raise TimeoutError(f"{waiting} requests were not answered in {PATIENCE:g} s")
            for selected, _ in events:
                client = selected.data
                answer = client.receive()
                if answer is None:
                    continue
                now = time.perf_counter()
                status, again = answer
                took = now - client.sent
                if status == 200:
                    load.latencies[client.kind].append(took)
                    (load.tickets if client.kind == ASK else load.told).append(client.ticket)
                elif status == 503:
                    load.refused += 1
                else:
                    load.failed += 1
                waiting -= 1
                if now >= end:
                    continue
                if status == 503:
                    number += 1
                    heappush(resting, (now + again, number, client))
                else:
                    waiting += 1
                    client.next()
        load.seconds = time.perf_counter() - began
        return load

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients:
            self._selector.unregister(client.socket)
            client.socket.close()
        self._selector.close()
