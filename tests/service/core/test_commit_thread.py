"""The commit thread: each record once, in one order, nothing acknowledged before its commit."""

import contextlib
import itertools
import os
import random
import sqlite3
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from belated.service.admin.verify import verified_at_rest
from belated.service.core import snapshot_rounds
from belated.service.core.errors import (
    NotFoundError,
    RequestError,
    StateConflictError,
    TicketExpiredError,
    UnavailableError,
)
from belated.service.core.replicas import Replicas
from belated.service.core.requests import Ask, Cancel, RunOnThread, Tell, TicketReport
from belated.service.store import Store, StoreUnavailable, open_store
from belated.service.store.snapshots import SnapshotGroup
from tests.service.core.thread_client import (
    ThreadClient,
    busy,
    catch_up,
    fingerprints_in,
    take_snapshots,
    thread_client,
)
from tests.service.material import whole_journal

LOSSES = {"red": 0.2, "green": 0.5, "blue": 0.8}
ARMS = list(LOSSES)
CUTS = int(os.environ.get("BELATED_CUTS", "20"))
EXPERTS = {"arms": ARMS, "learner": "full-information", "options": {"horizon": 500}}


def play(thread: ThreadClient, problem: str, rounds: int, chance: random.Random) -> None:
    """Ask and tell in groups, out of order, some never, some cancelled."""
    waiting: list[Any] = []
    while rounds > 0:
        asked = [thread.sent(Ask(problem)) for _ in range(min(rounds, chance.randint(1, 9)))]
        rounds -= len(asked)
        waiting += [future.result(600)[0] for future in asked]
        chance.shuffle(waiting)
        told = []
        for decision in waiting[: chance.randint(0, len(waiting))]:
            waiting.remove(decision)
            if chance.random() < 0.1:
                told.append(thread.sent(Cancel(decision.ticket)))
            elif chance.random() < 0.9:
                arms = [decision.arm] if decision.arm else ARMS
                reports = [TicketReport(decision.ticket, LOSSES[arm], arm=arm) for arm in arms]
                told.append(thread.sent(Tell(reports)))
        for future in told:
            future.result(600)


def refold(store: Store) -> dict[str, str]:
    """The fingerprints of a fold of the whole journal."""
    fresh = Replicas(store)
    catch_up(fresh)
    return fingerprints_in(fresh)


def test_live_state_is_the_fold_of_the_journal(store: Store) -> None:
    """Bandits, experts and plays that expire, in every store: bit for bit, also from snapshots."""
    with thread_client(store) as thread:
        store_has_no_spec = "ads"  # made by the fixture, cannot be served, and harms nobody
        thread.create("bandit", arms=ARMS, expire_after=15, default_loss=1.0)
        thread.create("experts", **EXPERTS)
        for name in ("bandit", "experts"):
            play(thread, name, 60, random.Random(4))
        thread.catch_up()
        live = thread.states()
        with pytest.raises(UnavailableError, match="cannot be served"):
            thread.ask(store_has_no_spec)
    assert live == refold(store)
    assert live == fingerprints_in(Replicas.loaded(store))  # the last snapshot
    found = {each.problem: each for each in verified_at_rest(store)}
    assert found["bandit"].complaints == found["experts"].complaints == []
    if store.one_owner:
        assert found["bandit"].gap == found["experts"].gap == 0.0


@pytest.mark.parametrize("learner", ["practical-bandit", "bold-exp3", "full-information"])
def test_snapshot_and_tail_are_the_whole_fold(tmp_path: Path, learner: str) -> None:
    """At random cuts a restored snapshot goes on to the same state, bit for bit."""
    options = {"horizon": 500} if learner == "full-information" else {}
    with open_store(tmp_path / "belated.db", durability="off") as store:
        with thread_client(store) as thread:
            thread.create("cut", arms=ARMS, learner=learner, options=options)
            play(thread, "cut", 90, random.Random(2))
            live = thread.states()
        events, first = whole_journal(store), Replicas(store)
        places = random.Random(3).choices(range(len(events)), k=CUTS)
        store.snapshots.prune("cut", 0)
        for place, event in enumerate(events):
            first.take(event)
            for _ in range(places.count(place)):
                take_snapshots(store, first, event.position)
                second = Replicas.loaded(store)
                assert second.unsaved == len(events) - place - 1  # so much was left to fold
                assert fingerprints_in(second) == live
        assert live == refold(store)


def test_a_damaged_snapshot_is_noticed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """By its checksum, by its code, or by not fitting: then the journal is folded again."""
    with open_store(tmp_path / "belated.db") as store:
        with thread_client(store) as thread:
            thread.create("ads", arms=ARMS)
            play(thread, "ads", 20, random.Random(1))
            live = thread.states()
        whole = store.snapshots.latest("ads")
        assert whole is not None
        bad = {
            "cut short": whole._replace(blob=whole.blob[:-50]),
            "of other code": whole._replace(code_version="older"),
            "no arrays": whole._replace(blob=b"nothing"),
        }
        for snapshot in bad.values():
            store.snapshots.prune("ads", 0)
            store.snapshots.save(snapshot)
            loaded = Replicas.loaded(store)
            assert loaded.unsaved == len(whole_journal(store))  # all of it was folded
            assert fingerprints_in(loaded) == live
    assert caplog.text.count("the journal is folded again") == 2


@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
def test_a_snapshot_that_rots_is_rebuilt(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, place: float
) -> None:
    """One bit of it turned on the disk: the service starts with the same state, and mends it."""
    path = tmp_path / "belated.db"
    with open_store(path) as store:
        with thread_client(store) as thread:
            thread.create("ads", arms=ARMS)
            play(thread, "ads", 20, random.Random(1))
            live = thread.states()
        whole = store.snapshots.latest("ads")
        assert whole is not None
    turn_a_bit(path, int(place * (len(whole.blob) - 1)))
    with open_store(path) as store:
        assert store.snapshots.latest("ads") is None
        assert "is damaged; it is ignored" in caplog.text
        with thread_client(store) as thread:
            assert thread.states() == live
        assert store.snapshots.latest("ads") == whole
        assert verified_at_rest(store)[0].is_clean


def turn_a_bit(path: Path, place: int, which: str = "") -> None:
    """Change a byte of snapshots in a file that nobody uses."""
    with contextlib.closing(sqlite3.connect(path)) as file, file:
        for row, blob in file.execute(f"select rowid, blob from snapshots {which}").fetchall():
            other = bytearray(blob)
            other[place] ^= 1
            file.execute("update snapshots set blob = ? where rowid = ?", (bytes(other), row))


def test_snapshots_are_taken_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many events, of the problems that have changed; an idle one is saved once."""
    monkeypatch.setattr(snapshot_rounds, "FEWEST_EVENTS", 50)
    monkeypatch.setattr(snapshot_rounds, "PER_OPEN", 0)
    saved: list[set[str]] = []
    with open_store(tmp_path / "belated.db") as store:
        save_all = store.snapshots.save_all

        def saving(group: SnapshotGroup) -> None:
            saved.append({snapshot.problem for snapshot in group.snapshots})
            save_all(group)

        monkeypatch.setattr(store.snapshots, "save_all", saving)
        with thread_client(store) as thread:
            thread.create("busy", arms=ARMS)
            thread.create("idle", arms=ARMS)
            before = ""
            for _ in range(3):
                play(thread, "busy", 100, random.Random(1))
                before = later_than(before, store)
        assert sum("busy" in names for names in saved) >= 3
        assert sum("idle" in names for names in saved) == 1
        loaded = Replicas.loaded(store)
        assert fingerprints_in(loaded) == refold(store)
        assert loaded.unsaved == 0


def later_than(position: str, store: Store) -> str:
    """Wait until snapshots are complete up to a later position; that."""
    until = time.monotonic() + 60
    while (found := store.snapshots.complete().position) <= position:
        assert time.monotonic() < until, "no snapshots are taken"
        time.sleep(0.01)
    return found


def test_snapshots_that_cannot_be_written_are_not_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A round whose second part fails is not complete; the next one takes what is lacking."""
    monkeypatch.setattr(snapshot_rounds, "FEWEST_EVENTS", 10)
    monkeypatch.setattr(snapshot_rounds, "PER_OPEN", 0)
    monkeypatch.setattr(snapshot_rounds, "AT_ONCE", 0.0)  # one snapshot in each part
    with open_store(tmp_path / "belated.db") as store:
        save_all, parts = store.snapshots.save_all, itertools.count()

        def failing(group: SnapshotGroup) -> None:
            if next(parts) == 1:
                raise StoreUnavailable("the store cannot be used now: disk full")
            save_all(group)

        monkeypatch.setattr(store.snapshots, "save_all", failing)
        with thread_client(store) as thread:
            for name in ("first", "second", "third"):
                thread.create(name, arms=ARMS)
                for _ in range(4):
                    thread.ask(name)
            until = time.monotonic() + 60
            while "no snapshot was taken" not in caplog.text and time.monotonic() < until:
                thread.states()
            assert store.snapshots.complete().position == ""
            play(thread, "first", 20, random.Random(1))
            later_than("", store)
            assert all(store.snapshots.latest(name) for name in ("first", "second", "third"))
        assert fingerprints_in(Replicas.loaded(store)) == refold(store)


def test_a_damaged_snapshot_of_an_idle_problem(tmp_path: Path) -> None:
    """The one before it is good for less than those of all others; nothing is left out."""
    with open_store(tmp_path / "belated.db") as store:
        for rounds in (5, 7, 0):
            with thread_client(store) as thread:
                if not store.problems():
                    thread.create("idle", arms=ARMS)
                    thread.create("busy", arms=ARMS)
                play(thread, "idle", rounds, random.Random(rounds))
                play(thread, "busy", 9, random.Random(rounds))
                live = thread.states()
        assert len(snapshots_of(tmp_path / "belated.db")) == 4
    turn_a_bit(
        tmp_path / "belated.db", 100, "where problem = 'idle' order by position desc limit 1"
    )
    with open_store(tmp_path / "belated.db") as store:
        loaded = Replicas.loaded(store)
        assert 7 <= loaded.unsaved <= 21
        assert fingerprints_in(loaded) == live == refold(store)


def snapshots_of(path: Path) -> list[str]:
    """The problems of all snapshots."""
    with contextlib.closing(sqlite3.connect(path)) as file:
        return [problem for (problem,) in file.execute("select problem from snapshots")]


def test_duplicates_and_order_change_nothing(tmp_path: Path) -> None:
    """Every outcome 1 to 5 times, shuffled, 10 % never: counted once, and the estimates agree."""
    chance = random.Random(7)
    with open_store(tmp_path / "belated.db") as store, thread_client(store) as thread:
        thread.create("clean", arms=ARMS, learner="exp3")
        thread.create("noisy", arms=ARMS, learner="exp3")
        decisions = [thread.ask("noisy") for _ in range(100)]
        told = [each for each in decisions if chance.random() < 0.9]
        sends = [each for each in told for _ in range(chance.randint(1, 5))]
        chance.shuffle(sends)
        futures = [
            thread.sent(Tell([TicketReport(each.ticket, LOSSES[each.arm])])) for each in sends
        ]
        verdicts = [future.result(600)[0] for future in futures]
        seen: set[str] = set()
        for decision, verdict in zip(sends, verdicts, strict=True):
            assert verdict.counted is (decision.ticket not in seen)
            seen.add(decision.ticket)

        def state(store: Store, replicas: Replicas) -> Any:
            return replicas.by_name["noisy"].state.losses.copy()

        noisy = thread.do(RunOnThread(state))
    sums = np.zeros(3)
    for each in told:
        assert each.probability is not None
        sums[ARMS.index(str(each.arm))] += LOSSES[str(each.arm)] / each.probability
    np.testing.assert_allclose(noisy, sums, rtol=1e-12)


def test_expiry_races_a_late_report(tmp_path: Path) -> None:
    """Time runs out while reports come in: one outcome for each ticket, whichever was first."""
    now = [1000.0]
    with open_store(tmp_path / "belated.db") as store:
        with thread_client(store, clock=lambda: now[0]) as thread:
            thread.create("brief", arms=ARMS, expire_seconds=10, default_loss=1.0)
            tickets = [thread.ask("brief").ticket for _ in range(200)]
            futures: list[Future[Any]] = []
            for number, ticket in enumerate(tickets):
                if number == 100:
                    now[0] += 10.0
                futures.append(thread.sent(Tell([TicketReport(ticket, 0.5)])))
            results = [future.result(600)[0] for future in futures]
        counted = sum(not isinstance(each, RequestError) and each.counted for each in results)
        gone = sum(isinstance(each, TicketExpiredError) for each in results)
        assert counted + gone == 200
        assert counted >= 100
        counts = store.counts("brief")
        assert (counts.of("told"), counts.of("expired")) == (counted, gone)
        assert verified_at_rest(store)[0].is_clean


class Failing:
    """Makes the commits of a store fail while it is switched on."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.on = False
        append = store.append

        def failing(*records: Any) -> Any:
            if self.on:
                raise StoreUnavailable("the store cannot be used now: disk full")
            return append(*records)

        monkeypatch.setattr(store, "append", failing)


def test_nothing_is_acknowledged_without_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit fails: all get 503, and nothing stays of it."""
    with open_store(tmp_path / "belated.db") as store:
        failing = Failing(store, monkeypatch)
        with thread_client(store) as thread:
            thread.create("ads", arms=ARMS)
            ticket = thread.ask("ads").ticket
            before = thread.states()
            failing.on = True
            for request in (Ask("ads"), Tell([TicketReport(ticket, 0.5)]), Cancel(ticket)):
                with pytest.raises(UnavailableError, match="nothing was acknowledged"):
                    thread.do(request)
            failing.on = False
            assert thread.states() == before
            assert thread.tell(ticket, 0.5).counted is True
            assert thread.ask("ads").round == 2
        assert verified_at_rest(store)[0].is_clean


@pytest.mark.parametrize("method", ["create_problem", "record_in_turn", "append"])
def test_a_commit_in_doubt_may_have_been_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """The answer to a commit is lost, whatever it was about: the replicas know what was written."""
    with open_store(tmp_path / "belated.db") as store:
        with thread_client(store) as thread:
            thread.create("ads", arms=ARMS)
            thread.ask("ads")
            write, lost = getattr(store, method), [True]

            def written(*given: Any) -> Any:
                answer = write(*given)
                if lost and lost.pop():
                    raise StoreUnavailable("the answer is lost", in_doubt=True)
                return answer

            monkeypatch.setattr(store, method, written)
            calls: dict[str, Any] = {
                "create_problem": lambda: thread.create("new", arms=ARMS),
                "record_in_turn": lambda: thread.change_arms("ads", ["pink"]),
                "append": lambda: thread.ask("ads"),
            }
            with pytest.raises(UnavailableError):
                calls[method]()
            assert thread.states() == refold(store)
            assert len(thread.states()) == 1 + (method == "create_problem")
            thread.ask("ads")
            assert thread.states() == refold(store)
        assert all(each.is_clean for each in verified_at_rest(store))


def test_requests_of_one_group_see_each_other(tmp_path: Path) -> None:
    """Two asks with one key, two reports of one ticket, two cancels, in the same commit."""
    with open_store(tmp_path / "belated.db") as store, thread_client(store) as thread:
        thread.create("ads", arms=ARMS)
        tickets = [thread.ask("ads").ticket for _ in range(3)]
        go_on = busy(thread)
        twice = [thread.sent(Ask("ads", key="k", digest="d")) for _ in range(2)]
        other = thread.sent(Ask("ads", key="k", digest="e"))
        reports = [thread.sent(Tell([TicketReport(tickets[0], loss)])) for loss in (0.5, 0.5, 0.6)]
        cancels = [thread.sent(Cancel(tickets[1])) for _ in range(2)]
        mixed = [
            thread.sent(Cancel(tickets[2])),
            thread.sent(Tell([TicketReport(tickets[2], 0.5)])),
        ]
        go_on.set()
        assert twice[0].result(600) == twice[1].result(600)
        with pytest.raises(RequestError, match="another request"):
            other.result(600)
        first, second, third = (each.result(600)[0] for each in reports)
        assert (first.counted, second.counted) == (True, False)
        assert isinstance(third, StateConflictError)
        assert [each.result(600).counted for each in cancels] == [True, False]
        assert mixed[0].result(600).state == "cancelled"
        assert isinstance(mixed[1].result(600)[0], StateConflictError)
        assert thread.states() == refold(store)


def test_a_group_answers_with_the_state_it_leaves(tmp_path: Path) -> None:
    """Of experts, some told and then the rest cancelled in the same commit: it is cancelled."""
    with open_store(tmp_path / "belated.db") as store, thread_client(store) as thread:
        thread.create("experts", **EXPERTS)
        ticket = thread.ask("experts").ticket
        red = Tell([TicketReport(ticket, 0.5, arm="red")])
        go_on = busy(thread)
        sent = [thread.sent(request) for request in (red, Cancel(ticket), red)]
        go_on.set()
        first, cancelled, again = (each.result(600) for each in sent)
        assert (first[0].counted, cancelled.counted, again[0].counted) == (True, True, False)
        assert {first[0].state, cancelled.state, again[0].state} == {"cancelled"}


def test_partially_concealed_reports_tell_what_was_missing(tmp_path: Path) -> None:
    """The count is required there, is part of the report, and has an end at the round before."""
    options = {"horizon": 50, "max_missing": 5}
    with open_store(tmp_path / "belated.db") as store, thread_client(store) as thread:
        thread.create(
            "pc", arms=ARMS, learner="partially-concealed", options=options, expire_after=4,
            default_loss=1.0,
        )  # fmt: skip
        first, second = thread.ask("pc"), thread.ask("pc")
        for missing in (None, 1, -1):
            with pytest.raises(RequestError, match="missing"):
                thread.tell(first.ticket, 0.5, missing=missing)
        assert thread.tell(second.ticket, 0.5, missing=1).counted
        with pytest.raises(StateConflictError):
            thread.tell(second.ticket, 0.5, missing=0)
        for _ in range(4):
            thread.ask("pc")
        with pytest.raises(TicketExpiredError):
            thread.tell(first.ticket, 0.5, missing=0)
        assert thread.states() == refold(store)


def test_more_weights_than_can_be_written_at_once_are_refused(tmp_path: Path) -> None:
    """The weights of all decisions of a request are counted before any is made."""
    many = [f"arm {place}" for place in range(1000)]
    with open_store(tmp_path / "belated.db") as store, thread_client(store) as thread:
        thread.create("wide", **{**EXPERTS, "arms": many})
        thread.create("narrow", arms=many)
        with pytest.raises(RequestError, match="has 1000 weights; it must be from 1 to 100"):
            thread.do(Ask("wide", 101))
        assert len(thread.do(Ask("wide", 2))) == 2
        assert len(thread.do(Ask("narrow", 101))) == 101
        assert store.counts("wide").of("decided") == 2


def test_strangers_cannot_touch_a_ticket(tmp_path: Path) -> None:
    """To those who may not tell of a problem, its tickets do not exist."""
    with open_store(tmp_path / "belated.db") as store, thread_client(store) as thread:
        thread.create("ads", arms=ARMS)
        ticket = thread.ask("ads").ticket
        (result,) = thread.do(Tell([TicketReport(ticket, 0.5)], lambda problem: problem != "ads"))
        assert isinstance(result, NotFoundError)
        with pytest.raises(NotFoundError):
            thread.do(Cancel(ticket, lambda problem: False))
        assert thread.tell(ticket, 0.5).counted
