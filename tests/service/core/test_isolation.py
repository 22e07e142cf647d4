"""Isolation: a fault of one request touches that request, one of a problem that problem."""

from concurrent.futures import Future
from typing import Any

import pytest

from belated.service.admin.verify import verified_at_rest
from belated.service.core.errors import FaultError, NotFoundError
from belated.service.core.requests import Ask, Request, Tell, TicketReport
from belated.service.store import Store
from tests.service.core.thread_client import ThreadClient, busy, thread_client

ARMS = ["red", "green"]


def sent_together(thread: ThreadClient, requests: list[Request]) -> list[Any]:
    """The answers to requests that share a batch; errors are returned."""
    go_on = busy(thread)
    sent = [thread.sent(request) for request in requests]
    go_on.set()
    return [answer_of(future) for future in sent]


def answer_of(future: "Future[Any]") -> Any:
    """The answer or the error that was given."""
    return future.exception(60) or future.result(60)


@pytest.mark.parametrize(
    ("poison", "error"),
    [
        (Tell([TicketReport("\0", 0.5)]), NotFoundError),
        (Tell([TicketReport("\ud800", 0.5)]), NotFoundError),
        (Ask("fine", key="a\0b", digest="d"), FaultError),
        (Ask("fine", key="a\ud800", digest="d"), FaultError),
    ],
    ids=["ticket", "half a pair", "key", "half a pair in a key"],
)
def test_text_that_cannot_be_stored_harms_its_sender_only(
    store: Store, poison: Request, error: type[Exception]
) -> None:
    """Others of the same group are answered as if it had not been sent, in every store."""
    with thread_client(store) as thread:
        thread.create("fine", arms=ARMS)
        ticket = thread.ask("fine").ticket
        tell = Tell([TicketReport(ticket, 0.5)])
        answers = sent_together(thread, [Ask("fine"), poison, tell, Ask("fine", 2)])
        bad = answers[1][0] if isinstance(poison, Tell) else answers[1]
        assert isinstance(bad, error)
        assert [len(answers[place]) for place in (0, 3)] == [1, 2]
        assert answers[2][0].counted
        assert thread.ask("fine").problem == "fine"
    found = {each.problem: each for each in verified_at_rest(store)}
    assert found["fine"].is_clean
    assert (found["fine"].rounds, found["fine"].pending) == (5, 4)


def test_an_unexpected_fault_is_answered_to_the_guilty_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of forty requests in a group the store fails on three, for whatever reason."""
    append = store.append

    def failing(decisions: Any, *more: Any) -> Any:
        if any(each.problem == "guilty" for each in decisions):
            raise ZeroDivisionError("a fault that nobody has thought of")
        return append(decisions, *more)

    monkeypatch.setattr(store, "append", failing)
    with thread_client(store) as thread:
        for name in ("fine", "guilty"):
            thread.create(name, arms=ARMS)
        names = ["guilty" if place in (3, 4, 29) else "fine" for place in range(40)]
        answers = sent_together(thread, [Ask(name) for name in names])
        for name, answer in zip(names, answers, strict=True):
            if name == "guilty":
                assert isinstance(answer, FaultError)
                assert "nothing was changed by it" in str(answer)
            else:
                assert answer[0].problem == "fine"
    found = {each.problem: each for each in verified_at_rest(store)}
    assert (found["fine"].rounds, found["guilty"].rounds) == (37, 0)
    assert found["fine"].is_clean
    assert found["guilty"].is_clean
