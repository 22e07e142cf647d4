"""Whatever text a request holds: it is answered by itself, and never with a fault."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from belated.service.core.texts import ARM_NAME, shown
from tests.service.server import serving
from tests.service.web.test_keys import made_key

NO_TICKET = "0" * 26
HOSTILE = (
    "\0", "a\0b", "0" * 25 + "\0", "\x1b[31m", "\r\nX: y", "\x7f", "\u202e", "\ufeff", "\ufffe",
    "x" * 100_000, "", " ", "%00", "'; drop table journal; --",
)  # fmt: skip
SURROGATE = '"\\ud800"'  # is JSON, and no text


@pytest.fixture(scope="module")
def http(lasting_address: str) -> Iterator[httpx.Client]:
    """A client with a key for everything, and the problem ads."""
    key = made_key(lasting_address, "admin:*", "ask:*", "tell:*")
    serves = serving(lasting_address, "--log-level", "error")
    with serves as server, server.client(key) as client:
        made = client.post("/v1/problems", json={"name": "ads", "arms": ["red", "gr\u00fcn"]})
        assert made.status_code == 201, made.text
        yield client


def bodies(text: Any) -> Iterator[tuple[str, str, Any]]:
    """Requests with a text in each place of a body that can hold one."""
    yield "POST", "/v1/tell:batch", {"reports": [{"ticket": text, "loss": 0.5}]}
    yield "POST", "/v1/tell:batch", {"reports": [{"ticket": NO_TICKET, "loss": 0, "arm": text}]}
    yield "POST", f"/v1/tickets/{NO_TICKET}/tell", {"loss": 0.5, "arm": text}
    for field in ("name", "kind", "learner"):
        yield "POST", "/v1/problems", {"name": "new", "arms": ["a", "b"], field: text}
    yield "POST", "/v1/problems", {"name": "new", "arms": [text]}
    for learner in ("concealed", "practical-bandit"):
        options: tuple[dict[Any, Any], ...] = ({text: 1}, {"variant": text}, {"horizon": text})
        for given in options:
            body = {"name": "new", "arms": ["a"], "learner": learner, "options": given}
            yield "POST", "/v1/problems", body
    yield "POST", "/v1/problems/ads/arms", {"remove": [text]}
    yield "POST", "/v1/problems/ads/arms", {"add": [text], "remove": [text]}
    yield "POST", "/v1/keys", {"label": "shop", "scopes": [f"ask:{text}"]}
    for base in ("/v1/problems/ads", "/v1/problems/ads/personalizer/v1.0"):
        yield "POST", f"{base}/rank", {"eventId": "e", "actions": [{"id": text}]}
        actions = [{"id": "red"}, {"id": "gr\u00fcn"}]
        yield (
            "POST",
            f"{base}/rank",
            {"eventId": "e", "actions": actions, "excludedActions": [text]},
        )


def paths(text: str) -> Iterator[tuple[str, str]]:
    """Requests with a text in each place of a path or query that can hold one."""
    part = quote(text, safe="")
    for ending in ("", "/stats", "/log"):
        yield "GET", f"/v1/problems/{part}{ending}"
    for ending in ("/ask", "/pause", "/resume", "/archive", "/rank"):
        yield "POST", f"/v1/problems/{part}{ending}"
    for verb, ending in (("GET", ""), ("POST", "/tell"), ("POST", "/cancel")):
        yield verb, f"/v1/tickets/{part}{ending}"
    for ending in ("reward", "activate"):
        yield "POST", f"/v1/problems/ads/events/{part}/{ending}"
    yield "DELETE", f"/v1/keys/{part}"
    yield "GET", f"/dashboard/{part}"
    yield "GET", f"/v1/problems?archived={part}"


def test_no_text_makes_it_fail(http: httpx.Client) -> None:
    """In any place: what cannot be is refused with a sentence, and nothing is changed by it."""
    for text in HOSTILE:
        for method, path, body in bodies(text):
            answer = http.request(method, path, json=body)
            assert answer.status_code < 500, (text, path, body, answer.text)
        for method, path in paths(text[:2000]):
            content = {"content": b"{}", "headers": {"Content-Type": "application/json"}}
            answer = http.request(method, path, **(content if method == "POST" else {}))
            assert answer.status_code < 500, (text, path, answer.text)
    for method, path, body in bodies("SURROGATE"):
        content = json.dumps(body).replace('"SURROGATE"', SURROGATE)
        answer = http.request(
            method, path, content=content, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code < 500, (path, content, answer.text)
    now = http.get("/v1/problems/ads").json()
    assert (now["round"], now["arms"]) == (0, ["red", "gr\u00fcn"])


def test_a_hostile_report_is_answered_by_itself(http: httpx.Client) -> None:
    """The others of its batch count; on PostgreSQL a NUL failed all that were committed with it."""
    ticket = http.post("/v1/problems/ads/ask").json()["ticket"]
    reports = [{"ticket": each, "loss": 0.5} for each in ("\0", ticket, "0" * 25 + "\0")]
    answer = http.post("/v1/tell:batch", json={"reports": reports})
    first, counted, last = answer.json()["results"]
    assert (first["status"], counted["counted"], last["status"]) == (404, True, 404)
    assert first["detail"] == r"there is no ticket '\x00'"


@pytest.mark.parametrize("label", ["a\0b", "\x1b[31mred", "two\nlines", "x" * 201])
def test_labels_are_printable(http: httpx.Client, label: str) -> None:
    """One sentence names the rule; before, PostgreSQL failed and terminals obeyed."""
    refused = http.post("/v1/keys", json={"label": label, "scopes": ["ask:ads"]})
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith("label is '")
    assert refused.json()["detail"].endswith("; it must be at most 200 printable letters")
    assert (
        http.post("/v1/keys", json={"label": "Größe 1", "scopes": ["ask:ads"]}).status_code == 201
    )


def test_idempotency_keys_are_plain(http: httpx.Client) -> None:
    """A header can hold any byte; a key holds printable ASCII letters."""
    for key in (b"", b"a b", b"\xff", b"\xc3\xbc", b"x" * 201):
        refused = http.post("/v1/problems/ads/ask", headers=[(b"Idempotency-Key", key)])
        assert refused.status_code == 422, key
        assert "printable ASCII letters" in refused.json()["detail"]


def test_a_sentence_quotes_little() -> None:
    """A long text is cut in the sentence about it."""
    assert shown("x" * 60) == repr("x" * 60)
    with pytest.raises(ValueError, match=r"^arm is 'x{60}'\.\.\. \(5000 letters\); it must be"):
        ARM_NAME.checked("x" * 5000)
