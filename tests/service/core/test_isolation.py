"""Isolation: a fault of one request touches that request, one of a problem that problem."""

import functools
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from belated.service.admin import offline
from belated.service.admin.retain import retain
from belated.service.admin.verify import verified_at_rest
from belated.service.core.errors import FaultError, NotFoundError, UnavailableError
from belated.service.core.replica import Replica
from belated.service.core.replicas import Replicas
from belated.service.core.requests import Ask, Request, RunOnThread, Tell, TicketReport
from belated.service.store import Store, StoreUnavailable, open_store
from belated.service.web.problem_metrics import numbers_of
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
    return future.exception(60) or future.result(600)


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


# Rows as only a person with SQL would write them, each about the problem "bad".
STRANGER = """
insert into journal (turn, seq, kind, problem, at, ticket, arm, loss)
select max(turn), max(seq) + 1000000, 'told', 'bad', 1.0, 'nobody', 'red', 0.5 from journal"""
NOTE = """
insert into journal (turn, seq, kind, problem, at, payload)
select max(turn), max(seq) + 1000000, '{kind}', 'bad', 1.0, '{said}' from journal"""
DAMAGE = {
    "an outcome without a decision": (STRANGER, "cannot be folded"),
    "an arm that is none": (
        "update journal set arm = 'pink' where problem = 'bad' and kind = 'told'",
        "cannot be folded",
    ),
    "weights that are no JSON": (
        "update journal set weights = '{' where problem = 'bad' and kind = 'decided'",
        "cannot be read",
    ),
    "a creation that is no object": (
        "update journal set payload = '[]' where problem = 'bad' and kind = 'created'",
        "cannot be read",
    ),
    "a probability that is none": (
        "update journal set probability = 7.5 where problem = 'bad' and kind = 'decided'",
        "probability is 7.5",
    ),
    "a loss that is none": (
        "update journal set loss = -1.0 where problem = 'bad' and kind = 'told'",
        "loss is -1.0",
    ),
    "a decision without a round": (
        "update journal set round = null where problem = 'bad' and kind = 'decided'",
        "cannot be read",
    ),
    "terms that are none": (
        NOTE.format(kind="terms", said='{"expire_seconds": "soon"}'),
        "cannot be folded",
    ),
    "a retention of nothing": (NOTE.format(kind="retained", said="{}"), "cannot be folded"),
    "a retention of no number": (
        NOTE.format(kind="retained", said='{"code_version": "", "position": "", "tickets": "x"}'),
        "cannot be folded",
    ),
    "a seal of nothing": (NOTE.format(kind="sealed", said="{}"), "cannot be folded"),
    "a specification that is no JSON": (
        "update problems set spec = 'no' where name = 'bad'",
        "specification cannot be read",
    ),
}


def run(store: Store, statement: str) -> None:
    """Run a statement in the database of a store."""
    store._transactions.write(lambda connection: connection.execute(text(statement)))


def play(thread: ThreadClient, problem: str, rounds: int) -> str:
    """Ask and tell; the last decision is never told. Its ticket."""
    for _ in range(rounds):
        thread.tell(thread.ask(problem).ticket, 0.5)
    return thread.ask(problem).ticket


def caught_up(thread: ThreadClient) -> dict[str, str]:
    """Have the thread read all that is in the journal; the problems that it has given up."""
    thread.catch_up()
    return dict(thread.do(RunOnThread(lambda store, replicas: dict(replicas.broken))))


@pytest.mark.parametrize("what", DAMAGE)
def test_a_problem_that_cannot_be_folded_harms_no_other(address: str, what: str) -> None:
    """At a start: its requests get 503 with the reason, `verify` lists it, all others go on."""
    statement, reason = DAMAGE[what]
    with open_store(address) as store:
        with thread_client(store) as thread:
            for name in ("fine", "bad"):
                thread.create(name, arms=ARMS)
                lost = play(thread, name, 3)
        for name in ("bad", "fine"):
            store.snapshots.prune(name, 0)
        run(store, statement)
        with thread_client(store) as thread:
            assert reason in caught_up(thread)["bad"]
            with pytest.raises(UnavailableError, match=reason):
                thread.ask("bad")
            with pytest.raises(UnavailableError, match=reason):
                thread.tell(lost, 0.5)
            play(thread, "fine", 3)
        found = {each.problem: each for each in verified_at_rest(store)}
        assert found["fine"].is_clean
        assert (found["fine"].rounds, found["fine"].pending) == (8, 2)
        assert any(reason in complaint for complaint in found["bad"].complaints)
        assert {each["name"] for each in offline.outlines(store, True)} == {"bad", "fine"}


def test_a_broken_problem_stays_broken_when_others_are_saved(address: str) -> None:
    """It has a snapshot from before the bad row, which later snapshots of others do not mend."""
    with open_store(address) as store:
        with thread_client(store) as thread:
            for name in ("bad", "fine"):
                thread.create(name, arms=ARMS)
                play(thread, name, 3)
            caught_up(thread)
        assert store.snapshots.latest("bad") is not None
        run(store, STRANGER)
        if not store.one_owner:
            run(store, "select setval('journal_seq', (select max(seq) from journal))")
        before = store.snapshots.complete().position
        for _ in range(2):
            with thread_client(store) as thread:
                assert "cannot be folded" in caught_up(thread)["bad"]
                play(thread, "fine", 3)
                caught_up(thread)
            assert store.snapshots.complete().position > before
            loaded = Replicas.loaded(store)
            assert list(loaded.broken) == ["bad"]
            assert list(loaded.by_name) == ["fine"]


def test_a_row_that_cannot_be_folded_stops_no_other_problem(database: str) -> None:
    """While workers run: what follows it in the same page is folded for all other problems."""
    with open_store(database) as store, open_store(database) as other:
        with thread_client(store) as thread, thread_client(other) as second:
            for name in ("bad", "fine"):
                thread.create(name, arms=ARMS)
            play(thread, "bad", 2)
            run(store, STRANGER.replace("+ 1000000", "+ 1"))
            run(store, "select setval('journal_seq', (select max(seq) from journal))")
            play(thread, "fine", 20)
            for each in (thread, second):
                assert "cannot be folded" in caught_up(each)["bad"]
                with pytest.raises(UnavailableError, match="cannot be folded"):
                    each.ask("bad")
            assert thread.states() == second.states()
        found = {each.problem: each for each in verified_at_rest(store)}
        assert found["fine"].is_clean
        assert (found["fine"].rounds, found["fine"].pending) == (21, 1)
        assert store.snapshots.latest("bad") is None  # of a replica half-way through an event


def test_a_problem_whose_tickets_cannot_expire_is_given_up(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No request is to blame for it, and none of another problem is refused."""
    now, fold = [1000.0], Replica.arms_waiting

    def failing(replica: Replica, ticket: str) -> Any:
        if replica.problem.name == "bad":
            raise ZeroDivisionError("a fault that nobody has thought of")
        return fold(replica, ticket)

    with open_store(address) as store, thread_client(store, clock=lambda: now[0]) as thread:
        for name in ("bad", "fine"):
            thread.create(name, arms=ARMS, expire_seconds=10, default_loss=1.0)
            thread.ask(name)
        caught_up(thread)
        monkeypatch.setattr(Replica, "arms_waiting", failing)
        now[0] += 20.0
        for _ in range(3):
            assert thread.ask("fine").problem == "fine"
        with pytest.raises(UnavailableError, match="cannot expire: ZeroDivisionError"):
            thread.ask("bad")
        assert list(caught_up(thread)) == ["bad"]
        assert store.counts("fine").of("expired") == 1


def test_a_problem_whose_weights_cannot_be_computed_is_given_up(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its asks get 503 with the reason, and all others, the list and the metrics go on."""
    faults = iter([np.array([np.nan, 1.0]), ZeroDivisionError("no")])
    broken: list[Any] = []

    def failing(replica: Replica, *given: Any, sound: Any) -> Any:
        if replica.problem.name not in broken:
            return sound(replica, *given)
        fault = next(faults)
        if isinstance(fault, Exception):
            raise fault
        return fault

    with open_store(address) as store, thread_client(store) as thread:
        for name in ("bad", "worse", "fine"):
            thread.create(name, arms=ARMS)
        caught_up(thread)
        for name in ("weights", "weights_in"):
            method = functools.partialmethod(failing, sound=getattr(Replica, name))
            monkeypatch.setattr(Replica, name, method)
        broken.append("bad")
        answers = sent_together(thread, [Ask("fine"), Ask("bad"), Ask("fine")])
        assert isinstance(answers[1], UnavailableError)
        assert "weights cannot be computed: their sum is nan" in str(answers[1])
        assert [len(answers[place]) for place in (0, 2)] == [1, 1]
        broken[:] = ["worse"]
        names = ["fine", "worse"]
        assert list(thread.do(RunOnThread(lambda store, all: numbers_of(all, names, 9)))) == [
            "fine"
        ]
        assert sorted(caught_up(thread)) == ["bad", "worse"]
        assert "state makes no sense: ZeroDivisionError" in caught_up(thread)["worse"]
        assert store.counts("fine").of("decided") == 2


@pytest.mark.parametrize("reading", ["problem", "snapshots.complete", "checkpoints.of", "tail"])
def test_a_store_that_fails_twice_breaks_no_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reading: str
) -> None:
    """A commit fails, and then what is read to fold the journal again: that says nothing of it."""
    with open_store(str(tmp_path / "belated.db")) as store, thread_client(store) as thread:
        for name in ("ads", "other"):
            thread.create(name, arms=ARMS)
        tickets = [thread.ask("ads").ticket for _ in range(5)]
        thread.tell(tickets[0], 0.5)

        def unavailable(*_: Any, **__: Any) -> Any:
            raise StoreUnavailable("the store cannot be used now: disk I/O error")

        part, _, method = reading.rpartition(".")
        with monkeypatch.context() as failing:
            failing.setattr(store, "append", unavailable)
            failing.setattr(getattr(store, part) if part else store, method, unavailable)
            for _ in range(2):
                with pytest.raises(UnavailableError, match="cannot be used now"):
                    thread.ask("ads")
        assert thread.ask("ads").round == 6
        assert thread.ask("other").round == 1
        assert [thread.tell(each, 0.5).counted for each in tickets] == [False, *[True] * 4]
    with open_store(str(tmp_path / "belated.db")) as store:
        assert all(each.is_clean for each in verified_at_rest(store))


def test_a_failed_commit_serves_no_problem_whose_checkpoint_is_damaged(tmp_path: Path) -> None:
    """Its journal is shortened, so that it cannot be folded from its beginning."""
    with open_store(str(tmp_path / "belated.db")) as store:
        with thread_client(store) as thread:
            thread.create("ads", arms=ARMS)
            for _ in range(5):
                thread.tell(thread.ask("ads").ticket, 0.5)
        retain(store, -60.0, time.time(), None)
        with thread_client(store) as thread:
            assert thread.ask("ads").round == 6
            run(store, "update checkpoints set checksum = 'no'")
            store.snapshots.prune("ads", 0)
            with pytest.raises(FaultError):
                thread.do(RunOnThread(doubted))
            with pytest.raises(UnavailableError, match="checkpoint is damaged"):
                thread.ask("ads")


def doubted(store: Store, replicas: Replicas) -> None:
    """Work that fails after it has begun to write about a problem."""
    replicas.expect("ads")
    raise ZeroDivisionError
