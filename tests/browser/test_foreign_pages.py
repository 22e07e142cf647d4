"""A page of somebody else in a real browser, beside a service without keys: it can do nothing."""

import http.server
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.browser.visits import (
    CHROMIUM,
    pytestmark,  # noqa: F401
)
from tests.service.server import Server, serving

NAME = "somebody.example"  # which its owner lets point to this machine
FORGED = """async ([url, ticket]) => {
  const sent = (path, body, type) => fetch(url + path, {
    method: 'POST', mode: 'no-cors', body, headers: body ? {'Content-Type': type} : {},
  }).then(() => 'sent', () => 'refused by the browser');
  await sent(`/v1/tickets/${ticket}/tell`, '{"loss": 1}', 'text/plain');
  await sent('/v1/tell:batch', `{"reports": [{"ticket": "${ticket}", "loss": 1}]}`, 'text/plain');
  await sent('/v1/problems/ads/ask:batch', '{"count": 100}', 'application/x-www-form-urlencoded');
  await sent('/v1/problems/ads/ask', null);
  await sent(`/v1/tickets/${ticket}/cancel`, null);
  await sent('/v1/problems/ads/archive', null);
  await sent('/v1/verify', null);
  const form = document.createElement('form');
  form.method = 'POST'; form.action = url + '/v1/problems/ads/pause'; form.target = 'other';
  const frame = document.createElement('iframe');
  frame.name = 'other';
  document.body.append(frame, form);
  const loaded = new Promise(resolve => frame.addEventListener('load', resolve));
  form.submit();
  await loaded;
}"""
REBOUND = """async () => {
  const json = {'Content-Type': 'application/json'};
  const key = JSON.stringify({label: 'mine', scopes: ['admin:*']});
  const answers = [
    await fetch('/v1/problems'),
    await fetch('/v1/problems/ads/ask', {method: 'POST'}),
    await fetch('/v1/keys', {method: 'POST', body: key, headers: json}),
    await fetch('/healthz'),
  ];
  return answers.map(answer => answer.status);
}"""


class Blank(http.server.BaseHTTPRequestHandler):
    """An empty page at every address."""

    def do_GET(self) -> None:
        """The page."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>somebody</title><body>")

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@pytest.fixture(scope="module")
def foreign() -> Iterator[int]:
    """The port of a web server of somebody else."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Blank) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    """A page of a browser for which NAME is this machine."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    rule = f"--host-resolver-rules=MAP {NAME} 127.0.0.1"
    with api.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", rule]
        )
        yield browser.new_page()
        browser.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service without keys, with a problem."""
    with serving(str(tmp_path_factory.mktemp("open") / "belated.db")) as running:
        with running.client() as http:
            made = http.post("/v1/problems", json={"name": "ads", "arms": ["red", "green"]})
            assert made.status_code == 201
        yield running


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])  # another port, and another site
def test_a_foreign_page_changes_nothing(page: Any, foreign: int, server: Server, host: str) -> None:
    """It sends what a browser lets any page send to anybody: all of it is refused."""
    with server.client() as http:
        ticket = http.post("/v1/problems/ads/ask").json()["ticket"]
        before = http.get("/v1/problems/ads").json()
        page.goto(f"http://{host}:{foreign}/")
        page.evaluate(FORGED, [server.address, ticket])
        assert http.get("/v1/problems/ads").json() == before
        assert http.get(f"/v1/tickets/{ticket}").json()["state"] == "pending"


def test_a_forged_host_reads_nothing(page: Any, server: Server) -> None:
    """A page whose own name leads to this machine is of the same origin, and refused as well."""
    page.goto(f"http://{NAME}:{urlsplit(server.address).port}/")
    assert page.evaluate(REBOUND) == [403, 403, 403, 403]
