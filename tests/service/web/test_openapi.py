"""Whatever a request holds: the service keeps to its own OpenAPI document, and never fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.server import Server, serving
from tests.service.web.test_keys import made_key

REQUESTS = os.environ.get("BELATED_REQUESTS", "1")  # for each route
SEED = os.environ.get("BELATED_SEED", "1")
PATIENCE = "300"  # seconds for an answer: the whole journal is verified again and again
LONG = int(REQUESTS) > 1
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "ignored_auth",
]
# In the long form also requests that follow one another, with what the one before has answered.
PHASES = "coverage,fuzzing,stateful" if LONG else "coverage,fuzzing"
KNOWN = """
[parameters]
"path.name" = "ads"
"path.ticket" = "{ticket}"
"path.eventId" = "visit"
"""
ENDED = """
[[operations]]
include-name = "POST /v1/problems/{{name}}/{verb}"
parameters = {{ "path.name" = "old" }}
"""


def requests_sent(server: Server, key: str, folder: Path, *options: str) -> str:
    """Let schemathesis loose on a service; what it says, none of which may be a failure."""
    entry = "from schemathesis.cli import schemathesis; schemathesis()"
    command = [sys.executable, "-c", entry, "run", f"{server.address}/openapi.json"]
    who = ["-H", f"Authorization: Bearer {key}", "--seed", SEED, "-n", REQUESTS]
    done = subprocess.run(
        [*command, *who, "--request-timeout", PATIENCE, "--checks", ",".join(CHECKS), *options],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=3600,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def things_to_know(server: Server, key: str) -> str:
    """What the routes are about, so that requests get past its name; for schemathesis to read."""
    rank = {"eventId": "visit", "actions": [{"id": "red"}, {"id": "green"}]}
    with server.client(key) as http:
        for name in ("ads", "old"):
            http.post("/v1/problems", json={"name": name, "arms": ["red", "green"]})
        ticket = http.post("/v1/problems/ads/ask").json()["ticket"]
        assert http.post("/v1/problems/ads/rank", json=rank).status_code == 201
    ended = [ENDED.format(verb=verb) for verb in ("archive", "pause")]
    return KNOWN.format(ticket=ticket) + "".join(ended)


@pytest.mark.parametrize(
    "address", ["sqlite", pytest.param("postgresql", marks=pytest.mark.check)], indirect=True
)
def test_no_request_makes_it_fail(address: str, tmp_path: Path) -> None:
    """Schemathesis over the whole document, with keys on: no 5xx, all answers as documented."""
    key = made_key(address, "admin:*", "ask:*", "tell:*")
    known = tmp_path / "schemathesis.toml"
    with serving(address, "--log-level", "info") as server:
        known.write_text(things_to_know(server, key))
        said = requests_sent(
            server, key, tmp_path, "--phases", PHASES, "--exclude-path", "/v1/keys/{id}"
        )
        assert "Authentication failed" not in said  # else it would have seen nothing but 401
        with server.client(key) as http:
            assert http.post("/v1/verify").json()["clean"] is True
        known.unlink()
        left = () if LONG else ("--include-path", "/v1/keys/{id}")
        requests_sent(server, key, tmp_path, "--phases", "fuzzing", *left)  # its own key, maybe
        server.stop()
        assert '"status": 5' not in server.log
