"""A service with nothing compiled: it answers, and says what is interpreted until it is not."""

import time
from pathlib import Path

import pytest

from tests.service import server as servers
from tests.service.server import SECONDS, Server, serving

STEPS = ("uniform ask_bandit", "uniform tell_bandit")
METRIC = "belated_interpreted_steps"


@pytest.mark.interpreted
def test_no_request_waits_for_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log names the steps that are interpreted, and says when they run compiled."""
    cold = {"BELATED_COMPILE": "background", "BELATED_CACHE_DIR": str(tmp_path / "cache")}
    monkeypatch.setattr(servers, "PLAIN", cold)
    with serving(str(tmp_path / "belated.db")) as server, server.client() as client:
        body = {"name": "ads", "arms": ["red", "green"], "learner": "uniform"}
        client.post("/v1/problems", json=body).raise_for_status()
        client.post("/v1/problems/ads/ask").raise_for_status()
        said = [f"{step} is interpreted until it is compiled" for step in STEPS]
        wait_for(server, *said)
        assert set(client.get("/readyz").json()["interpreted"]) <= {*STEPS}
        wait_for(server, *(f"{step} runs compiled" for step in STEPS))
        assert client.get("/readyz").json()["interpreted"] == []
        assert f"{METRIC} 0.0" in client.get("/metrics").text
        client.post("/v1/problems/ads/ask").raise_for_status()


def wait_for(server: Server, *texts: str) -> None:
    """Wait until all of these texts are in the log."""
    until = time.monotonic() + SECONDS
    while not all(text in server.log for text in texts):
        assert time.monotonic() < until, server.log
        time.sleep(0.05)
