"""Several workers are one service: what one was told holds for all, and numbers are sums."""

import functools
import json
import operator
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from belated.service.admin.offline import create
from belated.service.core.errors import StateConflictError
from belated.service.core.requests import RunOnThread, SetStatus
from belated.service.run import worker_pool
from belated.service.run.worker_pool import supervise
from belated.service.store import open_store
from belated.service.web.metrics import SHARED
from belated.service.web.views import problem_view
from tests.service.core.thread_client import ThreadClient, thread_client
from tests.service.run.test_killed_services import workers_of
from tests.service.server import Server, serving

ASKS = 12


def number(text: str, name: str) -> float:
    """A number that Prometheus is told."""
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    assert found is not None, text
    return float(found[1])


def asked_anew(server: Server, method: str, path: str) -> httpx.Response:
    """A request over a new connection, which any worker may take."""
    with server.client() as http:
        return http.request(method, path)


def test_numbers_are_of_the_service(database: str) -> None:
    """All workers answer when it says so; whoever is asked tells the sums, and the dead count."""
    with open_store(database) as store:
        create(store, "ads", {"arms": ["red", "green"], "learner": "exp3"}, time.time())
    with serving(database, "--no-auth", "--workers", "2") as server:
        health = asked_anew(server, "GET", "/healthz").json()
        assert (health["status"], health["workers"]) == ("ok", 2)
        for _ in range(ASKS):
            assert asked_anew(server, "POST", "/v1/problems/ads/ask").status_code == 200
        check_sums(server)
        os.kill(workers_of(server)[0], signal.SIGKILL)
        wait_for_workers(server, 1)
        check_sums(server)
        assert server.stop() == 0


def test_all_that_is_logged_is_json(database: str) -> None:
    """Of the workers, of the process that watches them, and when one of them dies."""
    with serving(database, "--no-auth", "--workers", "2") as server:
        assert asked_anew(server, "GET", "/nowhere").status_code == 404
        os.kill(workers_of(server)[0], signal.SIGKILL)
        wait_for_workers(server, 1)
        assert server.stop() == 0
    events = [json.loads(line)["event"] for line in server.lines]
    assert any(event.startswith("Serving on http://") for event in events)
    assert any("it is replaced" in event for event in events)


def check_sums(server: Server) -> None:
    """Each of several workers that are asked knows of all decisions."""
    for _ in range(4):
        text = asked_anew(server, "GET", "/metrics").text
        assert number(text, "belated_decisions_total") == ASKS
        assert number(text, 'belated_rounds{problem="ads"}') <= ASKS


def wait_for_workers(server: Server, count: int) -> None:
    """Until so many are at work."""
    until = time.monotonic() + 120
    while asked_anew(server, "GET", "/healthz").json()["workers"] != count:
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.fixture
def signals(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a supervisor changes in this process is as before afterwards."""
    monkeypatch.setenv(SHARED, "")
    kept = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    yield
    for each, handler in kept.items():
        signal.signal(each, handler)


@pytest.mark.usefixtures("signals")
def test_it_is_announced_when_all_workers_are_ready() -> None:
    """Not before; and not at all if one of them ends instead."""
    said: list[str] = []

    def announce() -> None:
        said.append("ready")
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(ValueError, match="could not start"):
        supervise(operator.not_, 2, announce)  # does nothing with whom it should call, and ends
    assert said == []
    supervise(operator.call, 2, announce)  # calls at once
    assert said == ["ready"]


def serve_the_second_time(mark: Path, ready: Callable[[], None]) -> None:
    """Die the first time, as if somebody had killed the worker while it started."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        ready()
    else:
        os.kill(os.getpid(), signal.SIGKILL)


def serve_and_stop(ready: Callable[[], None]) -> None:
    """Serve, and then be stopped by somebody."""
    ready()
    os.kill(os.getpid(), signal.SIGSTOP)


@pytest.mark.usefixtures("signals")
def test_a_worker_that_is_killed_while_it_starts_is_replaced(tmp_path: Path) -> None:
    """The service starts all the same."""
    said: list[str] = []

    def announce() -> None:
        said.append("ready")
        signal.raise_signal(signal.SIGTERM)

    supervise(functools.partial(serve_the_second_time, tmp_path / "mark"), 2, announce)
    assert said == ["ready"]


@pytest.mark.usefixtures("signals")
def test_a_worker_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody has stopped it, and it does not hear that it should end."""
    monkeypatch.setattr(worker_pool, "PATIENCE", 0.5)
    supervise(serve_and_stop, 1, lambda: signal.raise_signal(signal.SIGTERM))


@pytest.fixture
def two_threads(database: str) -> Iterator[tuple[ThreadClient, ThreadClient]]:
    """Two workers, and somebody whose transaction keeps the journal from being settled."""
    with ExitStack() as stack:
        threads = [
            stack.enter_context(thread_client(stack.enter_context(open_store(database))))
            for _ in "ab"
        ]
        stack.enter_context(hanging(database))
        yield threads[0], threads[1]


@contextmanager
def hanging(database: str) -> Iterator[None]:
    """A transaction that has a number, and does not end."""
    with psycopg.connect(database) as connection:
        connection.execute("select pg_current_xact_id()")
        yield


def status(thread: ThreadClient, name: str) -> str:
    """The status that a thread shows."""
    look = RunOnThread(lambda store, replicas: problem_view(replicas.named(name))["status"])
    return str(thread.do(look))


def test_a_problem_is_known_to_all_workers_at_once(
    two_threads: tuple[ThreadClient, ThreadClient],
) -> None:
    """Created, asked, told, paused, resumed and archived at one, it is so at the other."""
    one, other = two_threads
    one.create("ads", arms=["red", "green"])
    assert status(other, "ads") == "active"
    ticket = one.ask("ads").ticket
    assert other.tell(ticket, 0.5).counted
    assert not one.tell(ticket, 0.5).counted
    assert other.ask("ads").ticket
    for kind, seen in (("paused", "paused"), ("resumed", "active"), ("archived", "archived")):
        one.do(SetStatus("ads", kind))
        assert status(other, "ads") == seen
        if seen != "active":
            with pytest.raises(StateConflictError, match=f"is {seen}"):
                other.ask("ads")
        else:
            other.ask("ads")
    with pytest.raises(StateConflictError, match="for good"):
        other.do(SetStatus("ads", "resumed"))


def test_a_ticket_of_a_new_problem_is_told_anywhere(
    two_threads: tuple[ThreadClient, ThreadClient],
) -> None:
    """The first that the other worker hears of the problem is a report."""
    one, other = two_threads
    one.create("ads", arms=["red", "green"])
    assert other.tell(one.ask("ads").ticket, 0.5).counted
