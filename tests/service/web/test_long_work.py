"""Work that takes minutes (verify, a log, forgetting) holds up neither others nor the end."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from belated.service.run.app import Settings
from belated.service.run.fair_acceptor import WorkerPlace
from belated.service.run.server import PlacedServer, bound, config_of
from belated.service.web import monitoring

MANY = 40  # more than there are threads for reading
SECONDS = 600.0


@contextmanager
def served(database: Path) -> Iterator[tuple[PlacedServer, threading.Thread, str]]:
    """A service in this process, the thread it runs in, and its address."""
    listening, ready = bound("127.0.0.1", 0), threading.Event()
    server = PlacedServer(config_of(Settings(str(database), False)), WorkerPlace(ready.set))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    assert ready.wait(SECONDS)
    yield server, thread, f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(SECONDS)


def test_long_work_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty verifications never end: tickets are read meanwhile, and the service can be stopped."""
    begun, end = list[int](), threading.Event()

    def endless(*_: Any) -> list[Any]:
        begun.append(1)
        end.wait(SECONDS)
        return []

    monkeypatch.setattr(monitoring, "verified", endless)
    answers: list[int] = []
    with served(tmp_path / "belated.db") as (server, thread, address):

        def verify() -> None:
            answers.append(httpx.post(f"{address}/v1/verify", timeout=SECONDS).status_code)

        waiting = [threading.Thread(target=verify, daemon=True) for _ in range(MANY)]
        try:
            with httpx.Client(base_url=address, timeout=SECONDS / 4) as http:
                http.post("/v1/problems", json={"name": "ads", "arms": ["red", "green"]})
                ticket = http.post("/v1/problems/ads/ask").json()["ticket"]
                for each in waiting:
                    each.start()
                while len(begun) < 2 or len(server.server_state.tasks) < MANY:
                    time.sleep(0.01)  # all requests have arrived, and two of them are at work
                assert http.get(f"/v1/tickets/{ticket}").json()["state"] == "pending"
                assert http.get("/v1/problems/ads/stats").status_code == 200
            server.should_exit = True
            thread.join(SECONDS / 4)
            assert not thread.is_alive()
            for each in waiting:
                each.join(SECONDS)
            assert answers == [503] * MANY
            assert len(begun) == 2
        finally:
            end.set()
