"""Keys: who may do what, where the service listens, and how often it may be asked."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx
import pytest

from belated.service.admin.keys import checked_scopes, hash_of, new_key
from belated.service.core.errors import RateLimitError, UnauthorizedError
from belated.service.store import ApiKey
from belated.service.web.auth import Authenticator
from tests.cli.commands import belated, complaint
from tests.service.server import Server, serving


def made_key(database: str, *scopes: str) -> str:
    """A key made on the command line."""
    options = [part for scope in scopes for part in ("--scope", scope)]
    done = belated("keys", "create", "test", "--db", database, *options, "--json")
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["key"])


def status(client: httpx.Client, method: str, path: str, **options: object) -> int:
    """What is answered."""
    return client.request(method, path, **options).status_code  # type: ignore[arg-type]


def test_keys_open_what_they_are_for(tmp_path: Path) -> None:
    """A key for one problem or one verb does that and nothing else; a revoked one nothing."""
    database = str(tmp_path / "belated.db")
    admin = made_key(database, "admin:*")
    with serving(database, "--log-level", "debug") as server:
        with server.client(admin) as http:
            for name in ("ads", "prices"):
                body = {"name": name, "arms": ["a", "b"]}
                assert status(http, "POST", "/v1/problems", json=body) == 201
            assert status(http, "POST", "/v1/problems/ads/ask") == 200  # admin may do everything
            scopes = {"label": "shop", "scopes": ["ask:ads", "tell:ads"]}
            shop = http.post("/v1/keys", json=scopes).json()
            other = http.post("/v1/keys", json={**scopes, "scopes": ["tell:prices"]}).json()
        check_strangers(server)
        with server.client(shop["key"]) as http, server.client(other["key"]) as stranger:
            ticket = http.post("/v1/problems/ads/ask").json()["ticket"]
            assert status(http, "POST", "/v1/problems/prices/ask") == 403
            assert status(http, "GET", "/v1/problems/prices/stats") == 403
            assert status(http, "POST", "/v1/problems/ads/pause") == 403
            assert status(http, "POST", "/v1/keys", json=scopes) == 403
            assert status(http, "GET", "/metrics") == 403
            assert [each["name"] for each in http.get("/v1/problems").json()["problems"]] == ["ads"]
            told = {"json": {"loss": 0.5}}
            assert status(stranger, "POST", f"/v1/tickets/{ticket}/tell", **told) == 404
            assert status(stranger, "GET", f"/v1/tickets/{ticket}") == 404
            assert status(stranger, "POST", f"/v1/tickets/{ticket}/cancel") == 404
            assert status(http, "POST", f"/v1/tickets/{ticket}/tell", **told) == 200
        with server.client(admin) as http:
            assert status(http, "DELETE", f"/v1/keys/{shop['id']}") == 200
            assert status(http, "DELETE", "/v1/keys/none") == 404
            listed = {each["id"]: each["revoked"] for each in http.get("/v1/keys").json()["keys"]}
            assert listed[shop["id"]] is not None
        with server.client(shop["key"]) as http:
            assert status(http, "POST", "/v1/problems/ads/ask") == 401
        server.stop()
        for secret in (admin, shop["key"], other["key"]):
            assert secret not in server.log
    for file in tmp_path.iterdir():
        assert admin.encode() not in file.read_bytes()


BODIES = {
    "/v1/problems": {"name": "another", "arms": ["a", "b"]},
    "/v1/keys": {"label": "mine", "scopes": ["admin:*"]},
    "/ask:batch": {"count": 2},
    "/tell": {"loss": 0.5},
    "/arms": {"add": ["c"]},
    "/forget": {"older_than": 1},
    "/rank": {"actions": [{"id": "a"}, {"id": "b"}]},
    "/reward": {"value": 1},
}


def test_a_key_for_one_problem_cannot_touch_another(tmp_path: Path) -> None:
    """Whatever route of the document: it is refused as if there were nothing, and changes nothing.

    Routes without a name are about the key's own problem, about everything, or about nothing.
    """
    database = str(tmp_path / "belated.db")
    admin = made_key(database, "admin:*", "ask:*", "tell:*")
    scopes = ["admin:mine", "ask:mine", "tell:mine"]
    with serving(database, "--log-level", "warning") as server, server.client(admin) as http:
        made = http.post("/v1/keys", json={"label": "mine", "scopes": scopes}).json()
        stranger = server.client(made["key"])
        for name in ("mine", "theirs"):
            http.post("/v1/problems", json={"name": name, "arms": ["a", "b"]})
        rank = http.post("/v1/problems/theirs/rank", json=BODIES["/rank"])
        ticket, event = rank.headers["x-belated-ticket"], rank.json()["eventId"]
        before = http.post("/v1/verify").json()["problems"][1]
        parts = {"name": "theirs", "ticket": ticket, "eventId": event, "arm": "a", "id": "0"}
        for path, methods in http.get("/openapi.json").json()["paths"].items():
            answers = refusals(stranger, path.format(**parts), methods)
            if "{" in path or path in ("/v1/problems", "/v1/keys", "/v1/verify", "/metrics"):
                assert answers <= {403, 404}, path
        reports = {"reports": [{"ticket": ticket, "loss": 0.5}]}
        (told,) = stranger.post("/v1/tell:batch", json=reports).json()["results"]
        assert told["status"] == 404
        (seen,) = stranger.get("/v1/problems").json()["problems"]
        assert seen["name"] == "mine"
        assert http.post("/v1/verify").json()["problems"][1] == before
        assert before["problem"] == "theirs"
        stranger.close()


def refusals(http: httpx.Client, path: str, methods: Iterable[str]) -> set[int]:
    """What each method of a path is answered; the list of problems is everybody's to read."""
    body = next((body for end, body in BODIES.items() if path.endswith(end)), None)
    bodies: dict[str, Any] = {"post": body, "patch": {"expire_after": 5, "default_loss": 1}}
    return {
        status(http, method, path, json=bodies.get(method))
        for method in methods
        if (method, path) != ("get", "/v1/problems")
    }


def check_strangers(server: Server) -> None:
    """Without a valid key nothing is answered, not even what is wrong with a body."""
    for key in (None, "belated_wrong", new_key()):
        with server.client(key) as http:
            answer = http.post("/v1/problems/ads/ask", content=b"{")
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert status(http, "GET", "/metrics") == 401
            assert status(http, "GET", "/nowhere") == 401
            assert status(http, "GET", "/healthz") == 200


def test_the_service_is_not_open_by_mistake(tmp_path: Path) -> None:
    """No keys at all, or a public address without keys: one clear line, and it does not start."""
    database = str(tmp_path / "belated.db")
    assert "there is no key" in complaint("serve", "--db", database)
    assert "there is no key" in complaint("serve", "--db", database, "--host", "0.0.0.0")
    public = complaint("serve", "--db", database, "--host", "0.0.0.0", "--no-auth")
    assert "127.0.0.1 only" in public
    assert "one process owns" in complaint("serve", "--db", database, "--no-auth", "--workers", "2")


def test_a_key_may_ask_so_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A burst of a second's worth, then as many as time allows; strangers are counted, too."""
    now = [0.0]
    monkeypatch.setattr("belated.service.web.auth.time.monotonic", lambda: now[0])
    key = new_key()
    authenticator = Authenticator([ApiKey(hash_of(key), "test", ("ask:*",), 0.0)], rate=3)
    for _ in range(3):
        assert authenticator.admit(f"Bearer {key}", "1.2.3.4").may("ask", "ads")
    with pytest.raises(RateLimitError):
        authenticator.admit(f"Bearer {key}", "1.2.3.4")
    now[0] += 0.4
    authenticator.admit(f"Bearer {key}", "1.2.3.4")
    for _ in range(3):
        with pytest.raises(UnauthorizedError):
            authenticator.admit("Bearer nothing", "5.6.7.8")
    with pytest.raises(RateLimitError):
        authenticator.admit("Bearer nothing", "5.6.7.8")


@pytest.mark.parametrize("scope", ["ask", "ask:", "see:ads", "ask:a b", "ask:*x", "admin:ads\n"])
def test_scopes_are_checked(scope: str) -> None:
    """One sentence on what a scope must read."""
    with pytest.raises(ValueError, match="it must read ask:PROBLEM"):
        checked_scopes([scope])
