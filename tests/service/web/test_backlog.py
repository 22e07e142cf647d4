"""Requests that would wait too long are refused at once, and told when to come again."""

import asyncio
import threading
import time
from typing import Any

import httpx
import pytest

from belated.service.core.errors import UnavailableError
from belated.service.web import backlog as module
from belated.service.web.backlog import FEW, MOST_SECONDS, Backlog
from tests.service.web.test_limits import KEYS, SECONDS, Caller


class Clock:
    """A clock that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_wait_is_estimated() -> None:
    """From those who wait and the rate of answers; a crowd that is soon answered is let in."""
    clock = Clock()
    backlog = Backlog(clock)
    for _ in range(FEW):
        backlog.check()
        backlog.add()
    clock.now += 0.5
    backlog.answered(FEW)  # so many in half a second
    for _ in range(int(MOST_SECONDS * 2 * FEW) + 1):
        backlog.check()
        backlog.add()
    with pytest.raises(UnavailableError, match="requests are waiting") as refused:
        backlog.check()
    assert refused.value.more["retry_after"] == 2
    backlog.answered(FEW)
    backlog.check()


def test_a_slow_request_is_no_measure_of_a_crowd() -> None:
    """One that took long by itself makes nobody be refused."""
    clock = Clock()
    backlog = Backlog(clock)
    backlog.add()
    clock.now += 30.0
    backlog.answered(1)
    for _ in range(3 * FEW):
        backlog.check()
        backlog.add()


def test_a_standstill_is_no_reason_for_a_few() -> None:
    """Whatever takes long, a small crowd waits; a large one is refused until there is an answer."""
    clock = Clock()
    backlog = Backlog(clock)
    for _ in range(FEW - 1):
        backlog.add()
    clock.now += 60.0
    backlog.check()
    backlog.add()
    with pytest.raises(UnavailableError):
        backlog.check()


def test_a_crowd_gets_an_honest_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the commit thread stands still, who comes late gets 503 and a time to come again."""
    monkeypatch.setattr(module, "FEW", 3)
    monkeypatch.setattr(module, "MOST_SECONDS", 0.0)
    caller, busy, going_on = Caller(), threading.Event(), threading.Event()

    def work(store: Any, replicas: Any) -> None:
        busy.set()
        going_on.wait(SECONDS)

    async def crowd() -> tuple[list[httpx.Response], httpx.Response]:
        transport = httpx.ASGITransport(caller.app)
        headers = {"Authorization": f"Bearer {KEYS[0]}"}
        path = "/v1/problems/ads/ask"
        async with httpx.AsyncClient(
            transport=transport, base_url="http://here", headers=headers
        ) as http:
            standing = asyncio.create_task(caller.app.state.bridge.run_on_thread(work))
            await asyncio.to_thread(busy.wait, SECONDS)
            waiting = [asyncio.create_task(http.post(path)) for _ in range(2)]
            until = time.monotonic() + SECONDS
            while caller.app.state.bridge._backlog._waiting < 3 and time.monotonic() < until:
                await asyncio.sleep(0.01)
            late = await http.post(path)
            going_on.set()
            await standing
            return [await each for each in waiting], late

    try:
        in_time, late = caller.runner.run(crowd())
    finally:
        going_on.set()
        caller.close()
    assert [answer.status_code for answer in in_time] == [200, 200]
    assert late.status_code == 503
    assert int(late.headers["retry-after"]) >= 1
    assert "are waiting" in late.json()["detail"]
