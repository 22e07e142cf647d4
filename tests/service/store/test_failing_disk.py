"""A disk that is full, or fails: nothing is acknowledged, and all is well when it is well."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from belated.service.store import open_store
from tests.service.server import serving
from tests.service.store.power_loss import built_recorder, recording

FAULTS = {"BELATED_FAIL_WRITE": "disk is full", "BELATED_FAIL_SYNC": "disk I/O error"}


def send(http: httpx.Client, path: str, key: str | None = None, **body: Any) -> httpx.Response:
    """A request, with or without a key."""
    headers = {} if key is None else {"Idempotency-Key": key}
    return http.post(path, json=body or None, headers=headers)


def test_nothing_is_acknowledged_on_a_failing_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over HTTP: 503 while it lasts, the same requests succeed after it, and after a restart."""
    folder = tmp_path / "live"
    folder.mkdir()
    faults = {name: tmp_path / name for name in FAULTS}
    for name, value in recording(
        built_recorder(tmp_path), folder, tmp_path / "log", **{n: str(f) for n, f in faults.items()}
    ).items():
        monkeypatch.setenv(name, value)
    database, told = str(folder / "belated.db"), []
    with serving(database) as server, server.client() as http:
        assert send(http, "/v1/problems", name="ads", arms=["a", "b"]).status_code == 201
        for name, file in faults.items():
            told.append(send(http, "/v1/problems/ads/ask").json()["ticket"])
            file.touch()
            for _ in range(2):
                check_refused(http, told[-1], name)
            file.unlink()
            check_accepted(http, told[-1], name)
        before = http.get("/v1/problems/ads").json()
        faults["BELATED_FAIL_SYNC"].touch()
        check_refused(http, told[0], "last")
        server.kill()
    for name in ("LD_PRELOAD", *FAULTS):
        monkeypatch.delenv(name)
    with open_store(database) as store:
        assert all(len(record.outcomes) == 1 for record in store.tickets(told).values())
    with serving(database) as server, server.client() as http:
        assert http.get("/v1/problems/ads").json()["round"] - before["round"] in (0, 1)
        assert send(http, "/v1/problems/ads/ask", "last").status_code == 200
        assert http.get("/v1/problems/ads").json()["round"] == before["round"] + 1
        assert http.post("/v1/verify").json()["clean"] is True


def check_refused(http: httpx.Client, ticket: str, key: str) -> None:
    """Neither an ask nor a report is acknowledged; the service says why, and goes on."""
    for path, body in (("/v1/problems/ads/ask", {}), (f"/v1/tickets/{ticket}/tell", {"loss": 0.5})):
        answer = send(http, path, key, **body)
        if answer.status_code == 200:
            assert answer.json()["counted"] is False  # it was told before, which needs no commit
            continue
        assert answer.status_code == 503
        assert answer.json()["type"] == "urn:belated:unavailable"
        assert FAULTS.get(key, FAULTS["BELATED_FAIL_SYNC"]) in answer.json()["detail"]
    assert http.get("/healthz").status_code == 200


def check_accepted(http: httpx.Client, ticket: str, key: str) -> None:
    """The same requests once more: done now, once."""
    first = send(http, "/v1/problems/ads/ask", key)
    assert first.status_code == 200
    assert send(http, "/v1/problems/ads/ask", key).json() == first.json()
    reports = [send(http, f"/v1/tickets/{ticket}/tell", loss=0.5).json() for _ in range(2)]
    assert [each["counted"] for each in reports] == [True, False]
