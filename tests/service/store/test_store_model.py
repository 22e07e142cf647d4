"""Any sequence of calls leaves the store as a small model says it should be."""

import os
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from belated.service.store import Decision, Note, Outcome, Store, open_store
from tests.service.material import decision, experts, open_tickets, told, whole_journal
from tests.service.postgres_server import empty_database

STEPS = int(os.environ.get("BELATED_STEPS", "90"))
EACH = 30
ARMS = ("red", "green")

keys = st.none() | st.sampled_from(["k1", "k2", "k3"])
digests = st.sampled_from(["x", "y"])
times = st.none() | st.sampled_from([1.0, 2.0])
choices = st.tuples(st.booleans(), keys, digests, times)
reports = st.tuples(
    st.integers(0, 12), st.sampled_from(ARMS), st.sampled_from(["told", "expired", "cancelled"])
)


class Model:
    """What a store is meant to do, without a database."""

    def __init__(self) -> None:
        self.decisions: dict[str, Decision] = {}
        self.outcomes: dict[tuple[str, str], Outcome] = {}

    def decide(self, given: Decision) -> tuple[Decision, bool, bool]:
        for earlier in self.decisions.values():
            if given.key is not None and earlier.key == given.key:
                return earlier, False, earlier.digest == given.digest
        self.decisions[given.ticket] = given
        return given, True, True

    def awaited(self, ticket: str) -> set[str]:
        found = self.decisions.get(ticket)
        arms = set() if found is None else {found.arm} if found.arm else set(found.weights or ())
        return {arm for arm in arms if arm and (ticket, arm) not in self.outcomes}

    def report(self, given: Outcome) -> tuple[Outcome | None, bool]:
        if given.arm in self.awaited(given.ticket):
            self.outcomes[given.ticket, given.arm] = given
            return given, True
        return self.outcomes.get((given.ticket, given.arm)), False

    def open(self) -> dict[str, tuple[int, float | None]]:
        waiting = {ticket: len(self.awaited(ticket)) for ticket in self.decisions}
        return {t: (n, self.decisions[t].expires_at) for t, n in waiting.items() if n}


class Machine(RuleBasedStateMachine):
    """Appends and looks; closes and opens again where that keeps anything."""

    place: Callable[[], AbstractContextManager[str]]

    def __init__(self) -> None:
        super().__init__()
        self.model, self.stack, self.count = Model(), ExitStack(), 0
        self.address = self.stack.enter_context(type(self).place())
        self.store: Store = open_store(self.address, durability="off")
        self.store.create_problem("ads", {}, at=0.0)

    @rule(chosen=st.lists(choices, max_size=3), reported=st.lists(reports, max_size=4))
    def append(self, chosen: list[Any], reported: list[Any]) -> None:
        decisions = [self.decided(*each) for each in chosen]
        outcomes = [told(f"t{number}", arm=arm, kind=kind) for number, arm, kind in reported]
        given = self.store.append(decisions, outcomes)
        assert given.decisions == [self.model.decide(each) for each in decisions]
        assert given.outcomes == [self.model.report(each) for each in outcomes]

    def decided(self, one: bool, key: str | None, digest: str, until: float | None) -> Decision:
        ticket = f"t{self.count}"
        self.count += 1
        made = decision(ticket) if one else experts(ticket, *ARMS)
        return made._replace(key=key, digest=digest, expires_at=until)

    @rule()
    def open_again(self) -> None:
        if self.address != "memory:":
            self.store.close()
            self.store = open_store(self.address, durability="off")

    @invariant()
    def journal_is_the_models(self) -> None:
        bodies = [event.body for event in whole_journal(self.store)]
        assert sum(isinstance(body, Note) for body in bodies) == 1
        decisions = [body for body in bodies if isinstance(body, Decision)]
        outcomes = [body for body in bodies if isinstance(body, Outcome)]
        assert decisions == list(self.model.decisions.values())
        assert len(outcomes) == len(self.model.outcomes)
        assert {(each.ticket, each.arm): each for each in outcomes} == self.model.outcomes

    @invariant()
    def what_is_derived_is_the_models(self) -> None:
        found = open_tickets(self.store)
        waits = {each.ticket: (each.awaiting, each.expires_at) for each in found}
        assert waits == self.model.open()
        waiting = sum(bool(self.model.awaited(ticket)) for ticket in self.model.decisions)
        assert sum(sum(ages) for ages in self.store.ages("ads", []).values()) == waiting
        counts = self.store.counts("ads")
        assert counts.of("decided") == len(self.model.decisions)
        for kind in ("told", "expired", "cancelled"):
            number = sum(each.kind == kind for each in self.model.outcomes.values())
            assert counts.of(kind) == number

    def teardown(self) -> None:
        self.store.close()
        self.stack.close()


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgresql"])
def test_the_store_is_its_model(kind: str, request: pytest.FixtureRequest) -> None:
    """Random calls, with the journal and all that is derived from it compared after each."""
    if kind == "postgresql":
        url = request.getfixturevalue("postgres")

    class Here(Machine):
        @staticmethod
        def place() -> AbstractContextManager[str]:
            if kind == "postgresql":
                return empty_database(url)
            return nullcontext("memory:") if kind == "memory" else temporary_file()

    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=max(1, STEPS // EACH),
            stateful_step_count=EACH,
            deadline=None,
            derandomize=STEPS <= 1000,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


class temporary_file(tempfile.TemporaryDirectory[str]):
    """The path of a store in a folder that is removed afterwards."""

    def __enter__(self) -> str:
        return str(Path(super().__enter__()) / "belated.db")
