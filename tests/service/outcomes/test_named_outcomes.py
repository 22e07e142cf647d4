"""Tickets with several outcomes: all are kept, and the learner is told once what they amount to."""

import json
import random
from typing import Any

import pytest

from belated.service.admin.export import rows_of
from belated.service.admin.verify import verified_at_rest
from belated.service.core.errors import (
    InvalidRequestError,
    RequestError,
    StateConflictError,
    TicketExpiredError,
)
from belated.service.core.requests import Cancel, RunOnThread, anybody
from belated.service.outcomes.rules import rule_of
from belated.service.store import (
    Decision,
    NamedOutcome,
    NamedOutcomes,
    Outcome,
    Store,
    TicketRecord,
    open_store,
)
from belated.service.web.views import ticket_view
from tests.service.core.thread_client import ThreadClient, thread_client

NAMES = ["click", "sale", "refund"]
WITHIN, EXPIRY = 100.0, 1000.0
SPEC: dict[str, Any] = {
    "arms": ["red", "green"],
    "learner": "practical-bandit",
    "soft_range": [0, 50],
    "outcomes": {"names": NAMES, "rule": "sum", "revise_within": WITHIN},
}


class Time:
    """A clock that stands until it is moved on."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        """In seconds."""
        return self.now

    def client(self, store: Store) -> Any:
        """A commit thread that goes by this clock."""
        return thread_client(store, clock=self, monotonic=self)


def settle(client: ThreadClient) -> None:
    """Let what is due be closed, and all that is written be folded."""
    for _ in range(3):
        client.catch_up()
    client.catch_up()


def record_of(store: Store, ticket: str) -> TicketRecord:
    """What the store has of a ticket."""
    found = store.ticket(ticket)
    assert found is not None
    return found


def closing(store: Store, ticket: str) -> Outcome:
    """The one outcome that has closed a ticket."""
    (outcome,) = record_of(store, ticket).outcomes
    return outcome


def check_clean(store: Store) -> None:
    """The journal is what verification expects."""
    results = verified_at_rest(store)
    assert [result.complaints for result in results] == [[] for _ in results]


@pytest.mark.parametrize("rule", ["sum", "last"])
def test_any_number_of_reports_in_any_order_is_told_once(address: str, rule: str) -> None:
    """Told one to five times, shuffled, revised, with threads that stop without a word between.

    In the end each ticket has one outcome, with what the rule says about its rows, and a fold from
    the beginning is equal to the state in use.
    """
    chance, time = random.Random(7), Time()
    outcomes = {"names": NAMES, "rule": rule, "weights": None, "revise_within": WITHIN}
    sent: list[tuple[str, str, int, float]] = []
    silent: list[str] = []
    with open_store(address) as store:
        with time.client(store) as client:
            terms = {"expire_seconds": EXPIRY, "default_loss": 50}
            client.create("shop", **{**SPEC, "outcomes": outcomes}, **terms)
            for number in range(12):
                ticket = client.ask("shop").ticket
                if number == 0:
                    silent.append(ticket)
                    continue
                pairs = [(name, revision) for name in NAMES for revision in range(2)]
                for name, revision in chance.sample(pairs, chance.randint(1, 4)):
                    reward = chance.choice([0.0, 12.5, 70.0, -3.0])
                    sent += [(ticket, name, revision, reward)] * chance.randint(1, 5)
        chance.shuffle(sent)
        counted: list[tuple[str, str, int]] = []
        for start in range(0, len(sent), 17):
            with time.client(store) as client:
                for ticket, name, revision, reward in sent[start : start + 17]:
                    time.now += 0.25
                    result = client.tell(ticket, reward=reward, outcome=name, revision=revision)
                    assert result.state == "pending"
                    if result.counted:
                        counted.append((ticket, name, revision))
        assert len(counted) == len(set(counted)) == len(set(sent))
        assert time.now < 1_000_000.0 + WITHIN
        time.now += WITHIN
        with time.client(store) as client:
            settle(client)
            expected = rule_of({"outcomes": outcomes})
            assert expected is not None
            for ticket in {each[0] for each in sent}:
                record = record_of(store, ticket)
                mine = sorted({each[1:] for each in sent if each[0] == ticket})
                assert sorted((n.name, n.revision, n.reward) for n in record.named) == mine
                (told,) = record.outcomes
                assert (told.kind, told.raw) == ("told", expected.reward(record.named))
                assert told.raw is not None
                assert told.loss == (50.0 - min(max(told.raw, 0.0), 50.0)) / 50.0
            assert record_of(store, silent[0]).outcomes == ()
            time.now += EXPIRY
            settle(client)
            assert closing(store, silent[0])[2:4] == ("expired", 1.0)
            states = client.states()
        check_clean(store)
        store.snapshots.prune("shop", 0)
        with time.client(store) as client:
            assert client.states() == states


def test_what_may_be_told_and_what_stands() -> None:
    """The first report of a revision stands; late ones are recorded; a cancelled ticket is shut."""
    time = Time()
    with open_store("memory:") as store, time.client(store) as client:
        client.create("shop", **SPEC)
        ticket = client.ask("shop").ticket
        assert client.tell(ticket, reward=12, outcome="sale").counted
        assert not client.tell(ticket, reward=12, outcome="sale").counted
        with pytest.raises(StateConflictError, match=r"'sale' of ticket .* a higher revision may"):
            client.tell(ticket, reward=13, outcome="sale")
        assert client.tell(ticket, reward=13, outcome="sale", revision=1).counted
        for wrong, words in (
            ({"reward": 1}, "outcome is None; it must be one of click, sale, refund"),
            ({"reward": 1, "outcome": "gift"}, "outcome is 'gift'; it must be one of"),
            ({"outcome": "sale", "loss": 1}, "'sale' is told without a reward"),
            ({"outcome": "sale"}, "'sale' is told without a reward"),
            ({"outcome": "sale", "reward": 1e16}, "reward is 1e"),
            ({"outcome": "sale", "reward": 1, "arm": "blue"}, "arm is 'blue'"),
            ({"outcome": "sale", "reward": 1, "missing": 0}, "missing is 0"),
        ):
            with pytest.raises(InvalidRequestError, match=words):
                client.tell(ticket, **wrong)
        time.now += WITHIN
        settle(client)
        assert closing(store, ticket).raw == 13.0
        assert not client.tell(ticket, reward=12, outcome="sale").counted
        for _ in range(2):
            with pytest.raises(TicketExpiredError, match=r"'refund' with reward -13\.0 is"):
                client.tell(ticket, reward=-13.0, outcome="refund")
        view = ticket_view(store, ticket, anybody, anybody)
        assert view is not None
        assert [(each["outcome"], each["reward"]) for each in view["late"]] == [("refund", -13.0)]
        shown = [(each["reward"], each["revision"], each["stands"]) for each in view["named"]]
        assert shown == [(12.0, 0, False), (13.0, 1, True)]
        assert view["outcomes"][0]["reward"] == 13.0

        other = client.ask("shop").ticket
        client.tell(other, reward=1, outcome="click")
        assert client.do(Cancel(other)).state == "cancelled"
        with pytest.raises(StateConflictError, match="cancelled"):
            client.tell(other, reward=12, outcome="sale")
        plain = client.ask("shop")
        client.create("plain", arms=["red"])
        alone = client.ask("plain").ticket
        values: dict[str, Any] = {"outcome": "sale", "revision": 1}
        for name, value in values.items():
            with pytest.raises(InvalidRequestError, match=f"{name} is .* names no outcomes"):
                client.tell(alone, 0.5, **{name: value})
        assert plain.arm in SPEC["arms"]
        problem = store.problem("shop")
        assert problem is not None
        (row, *_) = rows_of(store, problem)
        assert (row.reward, row.late_reward) == (13.0, -13.0)
        assert [each["reward"] for each in json.loads(row.outcomes or "")] == [12.0, 13.0]
        check_clean(store)


def test_the_time_begins_with_the_first_outcome(address: str) -> None:
    """It takes the place of the deadline, whichever is later; what follows does not begin anew."""
    time = Time()
    with open_store(address) as store, time.client(store) as client:
        client.create("shop", **SPEC, expire_seconds=10.0, default_loss=50.0)
        ticket = client.ask("shop").ticket
        time.now += 9.0
        client.tell(ticket, reward=1, outcome="click")
        settle(client)
        time.now += 99.0
        settle(client)
        assert client.tell(ticket, reward=12, outcome="sale").counted
        settle(client)
        assert record_of(store, ticket).outcomes == ()
        time.now += 1.0
        settle(client)
        assert closing(store, ticket)[2:] == ("told", 37.0 / 50.0, time.now, None, 13.0)


def test_what_rewards_amount_to_may_be_larger_than_any(address: str) -> None:
    """It is clipped like all others, and no problem breaks on it."""
    time = Time()
    with open_store(address) as store, time.client(store) as client:
        client.create("shop", **SPEC)
        ticket = client.ask("shop").ticket
        for outcome in ("click", "sale"):
            assert client.tell(ticket, reward=1e15, outcome=outcome).counted
        time.now += 101.0
        settle(client)
        closed = closing(store, ticket)
        assert (closed.kind, closed.loss, closed.raw) == ("told", 0.0, 2e15)
        assert client.ask("shop").ticket
        check_clean(store)


def test_nothing_is_closed_on_less_than_is_written(address: str) -> None:
    """An outcome that rests on fewer named ones than there are is not written."""
    with open_store(address) as store, thread_client(store) as client:
        client.create("shop", **SPEC)
        made: Decision = client.ask("shop")
        client.tell(made.ticket, reward=12, outcome="sale")

        def closed(rests_on: int) -> bool:
            told = Outcome(made.ticket, made.arm or "", "told", 0.5, 1.0)
            named = NamedOutcomes([], {made.ticket: rests_on})
            return store.append([], [told], named=named).outcomes[0].counted

        assert not client.do(RunOnThread(lambda store, replicas: closed(0)))
        assert record_of(store, made.ticket).outcomes == ()
        late = NamedOutcome(made.ticket, "click", 0, 1.0, 1.0)
        assert client.do(RunOnThread(lambda store, replicas: closed(1)))

        def add() -> Any:
            return store.append([], [], named=NamedOutcomes([late])).named

        ((counted, record),) = client.do(RunOnThread(lambda store, replicas: add()))
        assert not counted
        assert len(record.named) == 1


def test_a_soft_range_clips_for_the_learner_and_counts_it(address: str) -> None:
    """The journal keeps the number; the loss is at the end of the range."""
    with open_store(address) as store:
        with thread_client(store) as client:
            client.create("shop", arms=["red"], soft_range=[0, 50])
            rewards = [12.0, 120.0, -5.0, 50.0, 1e12]
            tickets = [client.ask("shop").ticket for _ in rewards]
            for ticket, reward in zip(tickets, rewards, strict=True):
                client.tell(ticket, reward=reward)
            last = client.ask("shop").ticket
            client.tell(last, 51.0)
            with pytest.raises(RequestError, match=r"reward is 1e\+16; it must be from"):
                client.tell(client.ask("shop").ticket, reward=1e16)
            settle(client)
            kept = [closing(store, ticket) for ticket in (*tickets, last)]
            assert [each.raw for each in kept] == [*rewards, 51.0]
            assert [each.loss for each in kept] == [38.0 / 50.0, 0.0, 1.0, 0.0, 0.0, 1.0]

            def clipped(store: Store, replicas: Any) -> list[float]:
                numbers: list[float] = replicas.named("shop").stats.clipped[0].tolist()
                return numbers

            assert client.do(RunOnThread(clipped)) == [4.0, 70.0 + 1e12 - 50.0 + 1.0, -5.0]
            views = [ticket_view(store, each, anybody, anybody) for each in tickets]
            shown = [view["outcomes"][0] for view in views if view is not None]
            assert [each["reward"] for each in shown] == rewards
            assert [each["loss"] for each in shown] == [38.0, 0.0, 50.0, 0.0, 0.0]
            states = client.states()
        check_clean(store)
        with thread_client(store) as client:
            assert client.states() == states
