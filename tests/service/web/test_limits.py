"""Limits on bodies, batches, rates and what waits; and a stop that answers everybody."""

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from sqlalchemy import event

from belated.service.admin.keys import hash_of
from belated.service.core import commit_thread as desk_module
from belated.service.core.errors import UnavailableError
from belated.service.core.requests import Ask, RunOnThread
from belated.service.run.app import Settings, create_app
from belated.service.store import Store, open_store
from tests.service.core.thread_client import thread_client

KEYS = ("belated_first", "belated_second")
BURST = 8
SECONDS = 120  # by then whatever hangs is ended
CLIENTS = 12


def opened(database: str, durability: Any) -> Store:
    """A store with a problem and two keys for it."""
    store = open_store(database, durability)
    if store.problem("ads") is None:
        spec = {"arms": ["red", "green"], "learner": "exp3", "kind": "bandit", "options": {}}
        more = {"loss_range": [0, 1], "expire_after": None, "expire_seconds": None}
        store.create_problem("ads", {**spec, **more, "default_loss": None}, time.time())
        for key in KEYS:
            store.keys.add(hash_of(key), ["ask:ads", "tell:ads"], key, time.time())
    return store


class Caller:
    """Calls an app in this process."""

    def __init__(self, **settings: Any) -> None:
        self.app = create_app(Settings("memory:", **settings), opened)
        self.runner = asyncio.Runner()
        self.lifespan = self.app.router.lifespan_context(self.app)
        self.runner.run(self.lifespan.__aenter__())

    def post(self, path: str, key: str = KEYS[0], **request: Any) -> httpx.Response:
        """A request with a key."""

        async def sent() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://here") as http:
                headers = {
                    "Authorization": f"Bearer {key}",
                    **({"Content-Type": "application/json"} if "content" in request else {}),
                    **request.pop("headers", {}),
                }
                return await http.post(path, headers=headers, **request)

        return self.runner.run(sent())

    def close(self) -> None:
        """End the app."""
        self.runner.run(self.lifespan.__aexit__(None, None, None))
        self.runner.close()


@pytest.fixture
def caller(request: pytest.FixtureRequest) -> Iterator[Caller]:
    """An app with the settings that a test asks for."""
    made = Caller(**request.param)
    yield made
    made.close()


@pytest.mark.parametrize("caller", [{"most_bytes": 100_000}], indirect=True)
def test_batches_have_an_end(caller: Caller) -> None:
    """A thousand at once, and not one more; none is refused, too, and nothing is decided then."""
    for count in (0, 1001, 10**30):
        answer = caller.post("/v1/problems/ads/ask:batch", json={"count": count})
        assert (answer.status_code, answer.json()["type"]) == (422, "urn:belated:invalid")
    whole = caller.post("/v1/problems/ads/ask:batch", json={"count": 1000}).json()["decisions"]
    assert [each["round"] for each in whole] == list(range(1, 1001))
    reports = [{"ticket": each["ticket"], "loss": 1} for each in whole]
    for some in ([], [*reports, reports[0]]):
        assert caller.post("/v1/tell:batch", json={"reports": some}).status_code == 422
    results = caller.post("/v1/tell:batch", json={"reports": reports}).json()["results"]
    assert all(each["counted"] for each in results)


@pytest.mark.parametrize("caller", [{"most_bytes": 50}], indirect=True)
def test_bodies_have_an_end(caller: Caller) -> None:
    """By their length, or counted as they come, whatever length is also claimed."""
    path, fits = "/v1/problems/ads/ask:batch", b'{"count": 1}'.ljust(50)
    chunked = {"Transfer-Encoding": "chunked"}
    assert caller.post(path, content=fits).status_code == 200
    assert caller.post(path, content=fits, headers=chunked).status_code == 200
    claims: list[dict[str, str]] = [{}, chunked, {**chunked, "Content-Length": "9"}]
    for headers in claims:
        answer = caller.post(path, content=fits + b" ", headers=headers)
        assert (answer.status_code, answer.json()["type"]) == (413, "urn:belated:too-large")


@pytest.mark.parametrize("caller", [{"rate": BURST}], indirect=True)
def test_each_key_has_its_rate(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that asks too often is refused for a while, and others are not."""
    now = [time.monotonic() + 10]
    monkeypatch.setattr("belated.service.web.auth.time.monotonic", lambda: now[0])
    path = "/v1/problems/ads/ask"
    codes = [caller.post(path).status_code for _ in range(BURST + 1)]
    assert codes == [200] * BURST + [429]
    refused = caller.post(path)
    assert refused.json()["type"] == "urn:belated:too-many-requests"
    assert refused.headers["retry-after"] == "1"
    assert caller.post(path, KEYS[1]).status_code == 200
    now[0] += 1.0
    assert caller.post(path).status_code == 200


def test_what_waits_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the thread is busy only so many may wait; who came in time is answered."""
    monkeypatch.setattr(desk_module, "MOST_WAITING", 3)
    busy, going_on = threading.Event(), threading.Event()

    def work(store: Any, replicas: Any) -> None:
        busy.set()
        going_on.wait(600)

    with open_store("memory:") as store, thread_client(store) as thread:
        thread.create("ads", arms=["red", "green"])
        thread.sent(RunOnThread(work))
        assert busy.wait(600)
        waiting = [thread.sent(Ask("ads")) for _ in range(3)]
        with pytest.raises(UnavailableError, match="too many requests"):
            thread.sent(Ask("ads"))
        going_on.set()
        assert {each.result(600)[0].round for each in waiting} == {1, 2, 3}


async def asked_while_it_stops(database: str) -> list[httpx.Response]:
    """Answers to requests that are under way when the service is stopped."""
    may_commit = threading.Event()
    may_commit.set()

    def held(database: str, durability: Any) -> Store:
        """A store whose commits wait until they may go on."""
        store = opened(database, durability)
        event.listen(store._transactions.writer, "commit", lambda _: may_commit.wait(SECONDS))
        return store

    app = create_app(Settings(database), held)
    options: dict[str, Any] = {"log_config": None, "lifespan": "on"}
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, timeout_graceful_shutdown=SECONDS, **options)
    )
    serving = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    headers = {"Authorization": f"Bearer {KEYS[0]}"}
    may_commit.clear()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers) as http:
        asking = [
            asyncio.create_task(http.post("/v1/problems/ads/ask", timeout=SECONDS))
            for _ in range(CLIENTS)
        ]
        while len(server.server_state.tasks) < CLIENTS:  # all have arrived, none is answered
            await asyncio.sleep(0.001)
        assert not any(each.done() for each in asking)
        server.should_exit = True
        while server.servers[0].is_serving():  # until it has begun to stop
            await asyncio.sleep(0.001)
        assert not any(each.done() for each in asking)
        may_commit.set()
        answers = await asyncio.gather(*asking)
        await serving
        return answers


def test_a_stop_answers_what_is_under_way(tmp_path: Path) -> None:
    """All get their decision, each is in the store, and there is a snapshot."""
    database = str(tmp_path / "belated.db")
    answers = asyncio.run(asked_while_it_stops(database))
    assert [each.status_code for each in answers] == [200] * CLIENTS
    with open_store(database) as store:
        assert set(store.tickets([each.json()["ticket"] for each in answers])) == {
            each.json()["ticket"] for each in answers
        }
        assert store.counts("ads").of("decided") == CLIENTS
        assert store.snapshots.latest("ads") is not None
