"""A long log is sent in pages, each small enough that nobody has to wait for it."""

import asyncio
import json
import time
from typing import Any

from belated.service.run.app import Settings, create_app
from belated.service.store import Decision, Store, open_store
from belated.service.web.problems import LOG_PAGE

ROWS = 5 * LOG_PAGE + 1
SPEC = {
    "arms": ["red", "green"], "learner": "exp3", "kind": "bandit", "options": {},
    "loss_range": [0, 1], "expire_after": None, "expire_seconds": None, "default_loss": None,
}  # fmt: skip


def opened(database: str, durability: Any) -> Store:
    """A store with many decisions."""
    store = open_store(database, durability)
    store.create_problem("ads", SPEC, time.time())
    decided = [
        Decision(f"{number:026d}", "ads", number + 1, "red", 0.5, None, "v", time.time())
        for number in range(ROWS)
    ]
    store.append(decided, [])
    return store


async def messages_of(path: str) -> list[dict[str, Any]]:
    """What the app sends for a GET, message by message."""
    app, sent = create_app(Settings("memory:", guarded=False), opened), []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "root_path": "",
        "query_string": b"", "headers": [(b"host", b"localhost")], "client": ("127.0.0.1", 1),
        "http_version": "1.1", "scheme": "http", "server": ("127.0.0.1", 80),
        "asgi": {"spec_version": "2.4"},
    }  # fmt: skip
    async with app.router.lifespan_context(app):
        await app(scope, receive, send)
    return sent


def test_a_log_comes_in_pages() -> None:
    """The pages together are the whole log, and none is large."""
    start, *bodies = asyncio.run(messages_of("/v1/problems/ads/log"))
    assert start["status"] == 200
    assert (b"content-type", b"application/json") in start["headers"]
    log = json.loads(b"".join(each["body"] for each in bodies))
    assert (log["arms"], log["columns"][:2]) == (["red", "green"], ["round", "arm"])
    assert [row[:2] for row in log["rows"]] == [[round_, "red"] for round_ in range(1, ROWS + 1)]
    assert len(bodies) >= ROWS / LOG_PAGE
    assert max(len(each["body"]) for each in bodies) < 200 * LOG_PAGE
