"""Any sequence of groups of requests, stops, crashes and waits: the service is its model."""

import os
import shutil
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from belated.service.admin.verify import verified_at_rest
from belated.service.core.errors import StateConflictError
from belated.service.core.problems import checked_spec
from belated.service.core.reports import state_of
from belated.service.core.requests import (
    Ask,
    Cancel,
    CreateProblem,
    Request,
    RunOnThread,
    SetStatus,
    Tell,
    TicketReport,
)
from belated.service.store import open_store
from tests.service.core.service_model import Model
from tests.service.core.thread_client import ThreadClient, thread_client

STEPS = int(os.environ.get("BELATED_STEPS", "150"))
EACH = 50
ARMS = ["red", "green"]
HEDGE = {"learner": "full-information", "options": {"horizon": 10_000}}
EXPIRY = {"expire_seconds": 10.0, "default_loss": 1.0}
SPECS = {
    "lasting": {"arms": ARMS, "learner": "exp3"},
    "brief": {"arms": ARMS, "learner": "exp3", "expire_after": 4, **EXPIRY},
    "experts": {"arms": ARMS, **HEDGE, **EXPIRY},
    "more": {"arms": ARMS, "learner": "exp3"},
}
FIRST = ["lasting", "brief", "experts"]

names = st.sampled_from(FIRST)
places = st.integers(0, 14)  # among the latest tickets
asks = st.builds(
    lambda name, number, key: Ask(name, number, key, f"ask {number}"),
    names,
    st.integers(1, 3),
    st.none() | st.sampled_from(["k1", "k2", "k3"]),
)
reports = st.tuples(places, st.sampled_from([None, *ARMS, "blue"]), st.sampled_from([0.0, 0.5]))
tells = st.lists(reports, min_size=1, max_size=4)
kinds = st.sampled_from(["paused", "resumed", "resumed", "resumed", "archived"])
changes = st.builds(SetStatus, names, kinds)


class Machine(RuleBasedStateMachine):
    """A service on SQLite whose clock is ours."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="belated-model-"))
        self.model, self.files, self.stack = Model(), 0, ExitStack()
        self.begin(self.folder / "0.db")
        for name in FIRST:
            self.create(name)

    def begin(self, path: Path) -> None:
        self.path, self.stack = path, ExitStack()
        self.store = self.stack.enter_context(open_store(path, durability="off"))
        clock = lambda: self.model.now  # noqa: E731
        self.thread: ThreadClient = self.stack.enter_context(thread_client(self.store, clock=clock))
        self.model.noted.clear()

    @rule(name=st.sampled_from(list(SPECS)))
    def create(self, name: str) -> None:
        request = CreateProblem(name, checked_spec(SPECS[name]))
        if name not in self.model.games:
            self.model.create(request)
            assert self.thread.do(request).name == name
            return
        try:
            self.thread.do(request)
        except StateConflictError:
            return
        raise AssertionError(f"{name} was created twice")

    def ticket(self, place: int) -> str:
        latest = list(self.model.plays)[-14:]
        return latest[place] if place < len(latest) else "0" * 26

    @rule(group=st.lists(asks | tells | places | changes, min_size=1, max_size=5))
    def see_to(self, group: list[Any]) -> None:
        """All of these in one commit: they wait behind a request that takes its time."""
        requests = [self.request(each) for each in group]
        begun, go_on = threading.Event(), threading.Event()
        self.thread.sent(RunOnThread(lambda store, replicas: begun.set() or go_on.wait(600)))
        assert begun.wait(600)
        sent = [self.thread.sent(request) for request in requests]
        go_on.set()
        self.model.check(requests, [each.exception(60) or each.result() for each in sent])

    def request(self, given: Any) -> Request:
        if isinstance(given, int):
            return Cancel(self.ticket(given))
        if isinstance(given, list):
            return Tell([TicketReport(self.ticket(n), loss, arm=arm) for n, arm, loss in given])
        assert isinstance(given, Ask | SetStatus)
        return given

    @rule(seconds=st.sampled_from([1.0, 5.0, 11.0]))
    def wait(self, seconds: float) -> None:
        self.model.now += seconds
        self.thread.do(RunOnThread(lambda store, replicas: None))  # what is due expires before it
        self.model.expire()

    @rule(orderly=st.booleans())
    def start_again(self, orderly: bool) -> None:
        """After a stop, or on the files as a crash would leave them, without a last snapshot."""
        self.files += not orderly
        path = self.folder / f"{self.files}.db"
        if not orderly:
            for end in ("", "-wal"):
                shutil.copy(f"{self.path}{end}", f"{path}{end}")
        self.stack.close()
        self.begin(path)

    @invariant()
    def it_is_the_model(self) -> None:
        replicas = self.thread.do(RunOnThread(lambda store, replicas: dict(replicas.by_name)))
        assert set(replicas) == set(self.model.games)
        for name, game in self.model.games.items():
            replica = replicas[name]
            found = (replica.status, replica.round, replica.late_reports)
            assert found == (game.status, game.round, game.late)
            plays = [each for each in self.model.plays.values() if each.decision.problem == name]
            waiting = {each.decision.ticket for each in plays if each.awaited}
            assert set(replica.open) == waiting
            counts = self.store.counts(name)
            for kind in ("told", "expired", "cancelled"):
                number = sum(each == kind for play in plays for each, _ in play.outcomes.values())
                assert counts.of(kind) == number

    def teardown(self) -> None:
        """The store holds what the model does, and its journal folds to the state in use."""
        records = self.store.tickets(list(self.model.plays))
        for ticket, play in self.model.plays.items():
            assert records[ticket].decision == play.decision
            assert state_of(records[ticket]) == play.state
            outcomes = {each.arm: (each.kind, each.loss) for each in records[ticket].outcomes}
            assert outcomes == play.outcomes
        live = self.thread.states()
        self.stack.close()
        with open_store(self.path) as store:
            found = verified_at_rest(store)
        shutil.rmtree(self.folder)
        assert {each.problem: each.state for each in found} == live
        assert [each.complaints for each in found] == [[]] * len(found)


def test_the_service_is_its_model() -> None:
    """Random groups of requests between stops and crashes; every answer is as the model says."""
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=max(1, STEPS // EACH),
            stateful_step_count=EACH,
            deadline=None,
            derandomize=STEPS <= 1000,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
