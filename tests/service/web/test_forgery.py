"""Headers that tell who sent a request: Host, Origin, Sec-Fetch-Site and Content-Type."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from belated.service.store import open_store
from belated.service.web.forgery import is_own_host
from tests.service.server import Server, serving
from tests.service.web.test_keys import made_key


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service without keys."""
    with serving(str(tmp_path_factory.mktemp("open") / "belated.db")) as running:
        yield running


@pytest.fixture
def http(server: Server) -> Iterator[httpx.Client]:
    """A client of it."""
    with server.client() as client:
        yield client


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("localhost", True), ("localhost:1", True), ("LOCALHOST:8080", True), ("127.0.0.1", True),
        ("127.9.8.7:65535", True), ("[::1]", True), ("[::1]:8080", True), ("", False),
        ("somebody.example", False), ("localhost.somebody.example", False), ("10.0.0.1", False),
        ("127.0.0.1.somebody.example", False), ("localhost@somebody.example", False),
        ("[::2]:80", False), ("0.0.0.0:8080", False), ("localhost:80:80", False), ("::1", False),
    ],
)  # fmt: skip
def test_names_of_this_machine(host: str, own: bool) -> None:
    """With or without a port; no name that only looks like one."""
    assert is_own_host(host) is own


def test_without_keys_only_this_machine_is_meant(http: httpx.Client) -> None:
    """A foreign Host or page is refused with a sentence."""
    port = http.base_url.port
    for host in ("somebody.example", f"somebody.example:{port}", "192.168.0.1"):
        refused = http.get("/v1/problems", headers={"Host": host})
        assert refused.status_code == 403
        assert f"Host is '{host}'" in refused.json()["detail"]
    own, foreign = f"http://127.0.0.1:{port}", "https://somebody.example"
    for origin, status in ((own, 200), (foreign, 403), ("null", 403), ("http://127.0.0.1:1", 403)):
        assert http.get("/v1/problems", headers={"Origin": origin}).status_code == status
    for site, status in (("same-origin", 200), ("none", 200), ("cross-site", 403)):
        assert http.get("/v1/problems", headers={"Sec-Fetch-Site": site}).status_code == status
    assert http.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200  # a link


def test_without_keys_there_are_no_keys(http: httpx.Client) -> None:
    """None is made that would outlive the mode, and none is shown."""
    for answer in (
        http.post("/v1/keys", json={"label": "mine", "scopes": ["admin:*"]}),
        http.get("/v1/keys"),
        http.delete("/v1/keys/0123456789ab"),
    ):
        assert answer.status_code == 403
        assert "runs without keys" in answer.json()["detail"]


@pytest.mark.parametrize("path", ["/v1/problems", "/v1/problems/ads/ask", "/v1/tell:batch"])
def test_a_body_is_declared_as_json(http: httpx.Client, path: str) -> None:
    """On every route, fast or not; JSON with parameters or of a special kind is JSON."""
    kinds = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"]
    for kind in kinds:
        refused = http.post(path, content=b"{}", headers={"Content-Type": kind} if kind else {})
        assert refused.status_code == 415, kind
        assert refused.json()["type"] == "urn:belated:media-type"
    chunked = http.post(path, content=iter([b"{}"]), headers={"Content-Type": "text/plain"})
    assert chunked.status_code == 415
    for kind in ("application/json", "Application/JSON; charset=utf-8", "application/ld+json"):
        answer = http.post(path, content=b"{}", headers={"Content-Type": kind})
        assert answer.status_code in (404, 422), kind


def test_with_keys_any_name_will_do_and_none_is_repeated(tmp_path: Path) -> None:
    """A proxy may pass on its own name; no answer sends anybody there."""
    database = str(tmp_path / "belated.db")
    key = made_key(database, "admin:*")
    with serving(database, "--log-level", "error") as running, running.client(key) as http:
        forged = {"Host": "somebody.example"}
        assert http.get("/v1/problems", headers=forged).status_code == 200
        for path in ("/v1/problems/", "/v1/keys/", "/healthz/"):
            answer = http.get(path, headers=forged)
            assert answer.status_code == 404, path
            assert "location" not in answer.headers
        assert http.post("/v1/problems", content=b"{}").status_code == 415
    with open_store(database) as store:
        assert len(store.keys.all()) == 1
