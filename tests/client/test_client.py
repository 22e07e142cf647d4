"""The typed clients against a real server, also one that is killed while they ask."""

import asyncio
import contextlib
import inspect
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import belated
from belated.client import (
    AsyncClient,
    Client,
    NotAllowedError,
    Patience,
    ProblemConflictError,
    Report,
    ServiceUnavailable,
    UnknownProblemError,
)
from belated.client.clients import ClientMethod, ServiceMethods
from belated.client.retrying import Attempts
from belated.types import TicketState
from tests.service.server import Server, serving

HASTY = Patience(0.3, first=0.01, most=0.01)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service that the tests of this file share."""
    with serving(str(tmp_path_factory.mktemp("client") / "belated.db")) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Client]:
    """A client of it, and the problem ads."""
    with Client(server.address) as opened:
        opened.create_problem("ads", ["red", "green"])
        yield opened


def test_a_decision_is_asked_for_and_told(client: Client) -> None:
    """In the library's words: a Ticket, then a Feedback that counts once."""
    ticket = client.ask("ads")
    assert isinstance(ticket, belated.Ticket)
    assert ticket.arm in ("red", "green")
    told = belated.Feedback(ticket.id, True, TicketState.TOLD)
    assert client.tell(ticket, 0.25) == told
    assert client.tell(ticket.id, reward=0.75) == told._replace(counted=False)
    unused = client.ask("ads")
    cancelled = belated.Feedback(unused.id, True, TicketState.CANCELLED)
    assert client.cancel(unused) == cancelled
    assert client.cancel(unused) == cancelled._replace(counted=False)


def test_problems_are_typed(client: Client) -> None:
    """As they were created, and as they stand; the others' missing counts and arms are told."""
    made = client.create_problem(
        "prices",
        ["9", "12"],
        learner="partially-concealed",
        options={"horizon": 50, "max_missing": 5},
        loss_range=(0.0, 12.0),
        expire_seconds=60.0,
        default_loss=12.0,
    )
    assert (made.arms, made.loss_range, made.kind) == (("9", "12"), (0.0, 12.0), "bandit")
    assert client.tell(client.ask("prices"), 3, missing=0).counted
    found = client.problem("prices")
    assert (found.round, found.pending, sum(found.weights.values())) == (1, 0, pytest.approx(1))
    with pytest.raises(ProblemConflictError, match="cannot change its arms"):
        client.change_arms("prices", add=["15"])
    client.create_problem("lineup", ["a", "b"], learner="uniform")
    assert client.change_arms("lineup", add=["c"], remove=["a"]) == ("b", "c")
    assert client.problem("lineup").arms == ("b", "c")
    assert client.change_terms("prices", expire_after=9).expire_after == 9
    changed = client.change_terms("prices", expire_after=None, default_loss=6.0)
    assert (changed.expire_after, changed.expire_seconds, changed.default_loss) == (None, 60, 6)
    assert {"ads", "prices"} <= {each.name for each in client.problems(archived=True)}
    client.create_problem("weather", ["ecmwf", "gfs"], kind="experts")
    ticket = client.ask("weather")
    assert ticket.weights == {"ecmwf": 0.5, "gfs": 0.5}
    assert client.tell(ticket, 0.5, arm="gfs").state is TicketState.PENDING


def test_contexts_are_sent(client: Client) -> None:
    """With one ask and with many; the ticket has its context, and all probabilities if wanted."""
    features = {"age": "number", "device": ["phone", "desktop"]}
    arms = ["red", "green", "blue"]
    made = client.create_problem(
        "shop", arms, learner="linear", features=features, minimum_share=0.1, default_loss=1
    )
    assert (made.options["features"], made.minimum_share) == (features, 0.1)
    known = {"age": 31, "device": "phone"}
    ticket = client.ask("shop", context=known, arms=arms[:2], all_probabilities=True)
    assert ticket.context == known
    assert set(ticket.probabilities or ()) == set(arms[:2])
    assert min((ticket.probabilities or {}).values()) >= 0.1
    assert client.ticket(ticket).ticket.context == known
    many = client.ask_batch("shop", contexts=[known, None], all_probabilities=True)
    assert [each.context for each in many] == [known, None]
    assert client.tell(ticket, reward=1).counted
    with pytest.raises(ValueError, match="'age' is 'old'; it must be a number"):
        client.ask("shop", context={"age": "old"})
    options = {"action_features": ["price"]}
    client.create_problem("priced", arms, learner="linear-shared", options=options)
    priced = {"red": {"price": 3}, "blue": None}
    made_of = client.ask("priced", actions=priced, all_probabilities=True)
    assert set(made_of.probabilities or ()) == set(priced)
    assert client.forget("shop", ticket=ticket, contexts=True) == 1
    assert client.ticket(ticket).ticket.context is None


def test_batches_answer_one_by_one(client: Client) -> None:
    """Each report has its feedback, or the error that tell would raise."""
    first, second = client.ask_batch("ads", 2, key="two")
    assert [each.id for each in client.ask_batch("ads", 2, key="two")] == [first.id, second.id]
    results = client.tell_batch(
        [Report(first, 0.5), Report(first, 0.75), Report("0" * 26, 0.5), Report(second, 9.0)]
    )
    assert results[0] == belated.Feedback(first.id, True, TicketState.TOLD)
    kinds = [belated.ConflictError, belated.UnknownTicketError, ValueError]
    assert [type(each) for each in results[1:]] == kinds


def test_refusals_are_the_errors_of_the_library(client: Client) -> None:
    """One kind each; nothing changes by them."""
    ticket = client.ask("ads")
    with pytest.raises(ValueError, match=r"loss is 1\.5; it must be in \[0, 1\]"):
        client.tell(ticket, 1.5)
    with pytest.raises(ValueError, match="loss is nan; it must be finite"):
        client.tell(ticket, float("nan"))
    client.tell(ticket, 0.5)
    with pytest.raises(belated.ConflictError, match="the first report stands"):
        client.tell(ticket, 0.75)
    with pytest.raises(belated.ClosedTicketError, match="is told"):
        client.cancel(ticket)
    with pytest.raises(belated.UnknownTicketError):
        client.tell("../healthz", 0.5)
    with pytest.raises(UnknownProblemError, match="nothing"):
        client.ask("nothing")
    with pytest.raises(ProblemConflictError):
        client.create_problem("ads", ["red"])
    client.create_problem("brief", ["a"], expire_after=1, default_loss=1.0)
    late, _ = client.ask("brief"), client.ask("brief")
    with pytest.raises(belated.ClosedTicketError, match="has expired"):
        client.tell(late, 0.5)


def test_a_ticket_and_the_statistics_can_be_read(client: Client) -> None:
    """In the words in which they were told."""
    spec: Any = {"loss_range": (0.0, 15.0), "expire_after": 1, "default_loss": 15.0}
    client.create_problem("sales", ["a"], **spec)
    late, ticket = client.ask("sales"), client.ask("sales")
    client.tell(ticket, reward=12)
    with pytest.raises(belated.ClosedTicketError):
        client.tell(late, reward=9)
    found = client.ticket(ticket)
    assert (found.ticket, found.problem, found.state) == (ticket, "sales", TicketState.TOLD)
    assert found.outcomes[0][:5] == ("a", "told", 3.0, 12.0, 0.2)
    found = client.ticket(late.id)
    assert found.outcomes[0][:5] == ("a", "expired", 15.0, None, 1.0)
    assert found.late[0][:4] == ("a", 6.0, 9.0, 0.4)
    with pytest.raises(belated.UnknownTicketError):
        client.ticket("0" * 26)
    assert client.stats("sales")["late_reports"] == 1
    assert (client.health()["status"], client.readiness()["status"]) == ("ok", "ready")
    assert "belated_decisions_total" in client.metrics()


SAMPLES: dict[str, tuple[Any, ...]] = {
    "create_problem": ("ads", ["a"]),
    "ask_batch": ("ads", 2),
    "tell": ("0" * 26, 0.5),
    "tell_batch": ([Report("0" * 26, 0.5)],),
    "create_key": ("shop", ["ask:ads"]),
}


def test_the_client_has_every_route(client: Client, server: Server) -> None:
    """Each route of the OpenAPI document is a method, except those for clients of Personalizer."""
    document = httpx.get(f"{server.address}/openapi.json", timeout=600).json()
    routes = {
        (method.upper(), re.compile(re.sub(r"\{\w+\}", "[^/]+", path)))
        for path, methods in document["paths"].items()
        for method, about in methods.items()
        if "rank and reward" not in about["tags"]
    }
    methods = [
        name for name, each in vars(ServiceMethods).items() if isinstance(each, ClientMethod)
    ]
    reached = set()
    for name in methods:
        make = getattr(Client, name)
        needed = [
            each
            for each in inspect.signature(make).parameters.values()
            if each.default is each.empty
        ]
        call = make(*SAMPLES.get(name, ("x",) * len(needed)))
        found = {
            route for route in routes
            if route[0] == call.method and route[1].fullmatch(call.path.partition("?")[0])
        }  # fmt: skip
        assert len(found) == 1, (name, call.method, call.path)
        reached |= found
    assert routes == reached


def test_keys_are_sent(tmp_path: Path) -> None:
    """A key for one problem, none at all, and one that may not create."""
    database = str(tmp_path / "belated.db")
    command = [sys.executable, "-m", "belated", "keys", "create", "x", "-s", "ask:ads"]
    made = subprocess.run([*command, "--db", database], capture_output=True, text=True, check=True)
    with serving(database, "--log-level", "warning") as server:
        with Client(server.address) as nobody, pytest.raises(NotAllowedError, match="key is need"):
            nobody.problems()
        with Client(server.address, made.stdout.strip()) as somebody:
            assert somebody.problems() == []
            with pytest.raises(NotAllowedError) as raised:
                somebody.create_problem("ads", ["a"])
            assert (raised.value.status, bool(raised.value.request_id)) == (403, True)


def test_asyncio_does_the_same(server: Server, client: Client) -> None:
    """Many at once, each told once."""

    async def play() -> list[bool]:
        async with AsyncClient(server.address) as opened:
            tickets = await asyncio.gather(*(opened.ask("ads") for _ in range(20)))
            assert len({each.id for each in tickets}) == 20
            told = await asyncio.gather(*(opened.tell(each, 0.5) for each in tickets * 2))
            with pytest.raises(UnknownProblemError):
                await opened.problem("nothing")
            return [each.counted for each in told]

    assert sum(asyncio.run(play())) == 20


def test_the_client_is_light() -> None:
    """It loads neither the service's libraries nor the compiler."""
    heavy = "{'fastapi', 'sqlalchemy', 'uvicorn', 'numba', 'belated.service'}"
    code = f"import belated.client, sys; print(*({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_patience_ends() -> None:
    """Nobody listens: several attempts, then one sentence."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        tried = pytest.raises(ServiceUnavailable, match=r"was tried \d+ times in .* and not ans")
        with Client(address, patience=HASTY) as client, tried:
            client.ask("ads")
    with pytest.raises(ValueError, match="must begin with http"):
        Client("127.0.0.1:8080")
    with pytest.raises(ValueError, match="seconds is 0"):
        Patience(0)
    waits = [Patience(first=0.1, most=1.0).wait(failures, 0.0) for failures in range(1, 200)]
    assert 0.05 <= waits[0] <= 0.1
    assert all(0.5 <= wait <= 1.0 for wait in waits[4:])


class Clock:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("call", "limit"),
    [
        (Client.ask("ads"), 3.0),  # it is sent again, which needs time as well
        (Client.create_problem("ads", ["a"]), 20.0),  # its one attempt has all the time there is
        (Client.verify(), 3600.0),  # it folds the whole journal
    ],
    ids=["ask", "create", "verify"],
)
def test_an_attempt_has_its_time(call: Any, limit: float) -> None:
    """And never more than what is left of the deadline."""
    clock = Clock()
    with httpx.Client(base_url="http://127.0.0.1") as http:
        attempts = Attempts(call, Patience(20.0), 3.0, clock)
        assert attempts.request(http).extensions["timeout"]["read"] == pytest.approx(limit)
        if limit <= 20.0:
            clock.now += 18.0
            assert attempts.request(http).extensions["timeout"]["read"] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("header", "waited"),
    [("7", 7.0), ("", 0.1), ("soon", 0.1), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.1)],
)
def test_the_service_may_ask_for_a_longer_wait(header: str, waited: float) -> None:
    """In seconds or until a date; what cannot be waited for within the deadline ends it."""
    clock = Clock()
    attempts = Attempts(Client.ask("ads"), Patience(20.0), 3.0, clock)
    attempts.receive(httpx.Response(503, headers={"Retry-After": header}))
    assert attempts.goes_on
    assert 0.5 * waited <= attempts.wait <= waited
    clock.now += 14.0
    attempts.receive(httpx.Response(503, headers={"Retry-After": "7"}))
    assert not attempts.goes_on
    with pytest.raises(ServiceUnavailable):
        attempts.result()


class Dripping(threading.Thread):
    """Answers the first request with a byte now and then, without end."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._ended = threading.Event()
        self.start()

    def run(self) -> None:
        """Until it is closed, or the client hangs up."""
        with contextlib.suppress(OSError):
            connection, _ = self._socket.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n")
                while not self._ended.wait(0.02):
                    connection.sendall(b" ")

    def close(self) -> None:
        """End it."""
        self._ended.set()
        self._socket.close()
        self.join(600)


def test_a_deadline_is_for_the_whole_answer() -> None:
    """An answer of which a byte comes now and then is not waited for beyond the deadline."""
    patience = Patience(0.5, reconnects=False)

    async def awaited(address: str) -> None:
        async with AsyncClient(address, patience=patience) as client:
            await client.create_problem("ads", ["a"])

    def waited(address: str) -> None:
        with Client(address, patience=patience) as client:
            client.create_problem("ads", ["a"])

    for create in (waited, lambda address: asyncio.run(awaited(address))):
        server = Dripping()
        try:
            with pytest.raises(ServiceUnavailable, match=r"tried once in .* may have been done"):
                create(server.address)
        finally:
            server.close()


class Deaf(threading.Thread):
    """Takes requests and hangs up, `times` times, then answers 503 for ever; keeps what came."""

    def __init__(self, times: int) -> None:
        super().__init__(daemon=True)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._left, self.came = times, list[bytes]()
        self.start()

    def run(self) -> None:
        """Until the socket is closed."""
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                self.came.append(connection.recv(65536))
                if self._left <= 0:
                    connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
                self._left -= 1

    def close(self) -> None:
        """End it."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self.join(600)


def test_what_is_sent_again_is_the_same() -> None:
    """An ask keeps its key from attempt to attempt; a creation of unknown fate is not repeated."""
    deaf = Deaf(times=1)
    try:
        with Client(deaf.address, patience=HASTY) as client:
            with pytest.raises(ServiceUnavailable) as raised:
                client.ask("ads")
            assert raised.value.status == 503
            keys = [key_in(request) for request in deaf.came]
            assert len(keys) > 2
            assert len(set(keys)) == 1
            assert keys[0]
    finally:
        deaf.close()
    deaf = Deaf(times=9)
    try:
        with Client(deaf.address, patience=HASTY) as client:
            with pytest.raises(ServiceUnavailable, match="it may have been done"):
                client.create_problem("ads", ["a"])
            assert len(deaf.came) == 1
    finally:
        deaf.close()


def key_in(request: bytes) -> bytes:
    """The Idempotency-Key of a request."""
    (found,) = [line for line in request.split(b"\r\n") if line.lower().startswith(b"idempotency")]
    return found.partition(b": ")[2]


def test_nothing_is_decided_twice_while_the_server_is_killed(tmp_path: Path) -> None:
    """Killed under clients that go on: as many rounds as asks, and nothing left to tell."""
    database, each = str(tmp_path / "belated.db"), 20
    patience = Patience(600.0, first=0.02, most=0.5)
    server = Server(database, "--no-auth")
    port, halfway = server.address.rpartition(":")[2], threading.Semaphore(0)
    with Client(server.address, patience=patience) as first:
        first.create_problem("ads", ["a", "b"])
    tickets: dict[str, str] = {}
    errors: list[Any] = []

    def play(player: int) -> None:
        try:
            with Client(server.address, patience=patience) as client:
                for number in range(each):
                    key = f"{player}-{number}"
                    tickets[key] = client.ask("ads", key=key).id
                    client.tell(tickets[key], 0.5)
                    halfway.release()
        except Exception as error:
            errors.append(error)

    players = [threading.Thread(target=play, args=(player,)) for player in range(3)]
    for player in players:
        player.start()
    for _ in range(each):
        assert halfway.acquire(timeout=600), errors
    server.kill()
    server = Server(database, "--no-auth", "--port", port)
    for player in players:
        player.join(600)
    try:
        assert not errors
        with Client(server.address) as client:
            problem = client.problem("ads")
            assert len(set(tickets.values())) == 3 * each
            assert (problem.round, problem.pending) == (3 * each, 0)
            assert client.ask("ads", key="2-7").id == tickets["2-7"]
    finally:
        assert server.stop() == 0
