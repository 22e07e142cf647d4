"""The uplift of a holdout from the journal: which decisions count, and with what."""

from typing import Any

import pytest

from belated.service.admin.offline import named
from belated.service.admin.uplift import WEEK, uplift_of
from belated.service.contexts import canonical
from belated.service.core.errors import InvalidRequestError
from belated.service.core.requests import Ask, Cancel, RunOnThread, Tell, TicketReport
from belated.service.store import Decision, Store, open_store
from belated.service.upkeep import retention
from tests.service.core.thread_client import ThreadClient, thread_client

DAY = 86_400.0
HOLDOUT = {"share": 0.5, "arm": "red"}


class Time:
    """A clock that stands until it is moved on."""

    def __init__(self) -> None:
        self.now = 10.0 * DAY

    def __call__(self) -> float:
        """In seconds."""
        return self.now


def asked(client: ThreadClient, number: int, problem: str = "shop") -> list[Decision]:
    """So many decisions."""
    return [client.ask(problem) for _ in range(number)]


def uplift(store: Store, now: float, within: float | None = None) -> dict[str, Any]:
    """The uplift at a time."""
    return uplift_of(store, named(store, "shop"), now, within)


def test_decisions_count_in_their_order_once_they_are_fixed(address: str) -> None:
    """Without expiry: told in time, or silent for good; what is told later changes nothing."""
    time = Time()
    with (
        open_store(address) as store,
        thread_client(store, clock=time, monotonic=time) as client,
    ):
        client.create("shop", arms=["red", "green"], soft_range=[0, 10], holdout=HOLDOUT)
        start = time.now
        made = asked(client, 8)
        client.do(Cancel(made[1].ticket))
        for each, reward in ((made[0], 5.0), (made[2], 20.0), (made[4], 2.0)):
            time.now += 10.0
            client.tell(each.ticket, reward=reward)
        client.catch_up()
        found = uplift(store, time.now)
        assert (found["within"], found["silent_reward"]) == (WEEK, 0.0)
        assert (found["decisions"], found["waiting"], found["cancelled"]) == (2, 5, 1)
        assert found["clipped"] == 1
        time.now = start + 100.0
        client.tell(made[5].ticket, reward=7.0)
        client.catch_up()
        for look in (time.now, time.now + DAY):
            late = uplift(store, look, within=60.0)
            assert (late["decisions"], late["waiting"]) == (7, 0)
            told = [late[name]["told"] for name in ("treatment", "control")]
            assert sum(told) == 3
            total = sum(
                late[name]["decisions"] * late[name]["mean"]
                for name in ("treatment", "control")
                if late[name]["decisions"]
            )
            assert total == pytest.approx(5.0 + 10.0 + 2.0)
        by_arm = {each["arm"]: each for each in late["by_arm"]}
        assert by_arm["red"]["control"]["decisions"] == late["control"]["decisions"]
        (day,) = late["days"]
        assert day["day"] == "1970-01-11"
        assert (day["value"], day["low"]) == (late["uplift"]["value"], late["uplift"]["low"])
        assert late["over_time"][-1]["high"] == late["uplift"]["high"]
        with pytest.raises(InvalidRequestError, match="within is -1"):
            uplift(store, time.now, -1.0)


def test_tickets_that_expire_count_with_the_default_loss() -> None:
    """What is open holds back what comes after it, until it expires."""
    time = Time()
    with (
        open_store("memory:") as store,
        thread_client(store, clock=time, monotonic=time) as client,
    ):
        terms = {"expire_seconds": 60.0, "default_loss": 0.25}
        client.create("shop", arms=["red", "green"], holdout=HOLDOUT, **terms)
        made = asked(client, 3)
        client.tell(made[1].ticket, 0.0)
        assert uplift(store, time.now)["waiting"] == 3
        time.now += 61.0
        client.do(RunOnThread(lambda store, replicas: None))
        client.do(RunOnThread(lambda store, replicas: None))
        found = uplift(store, time.now)
        assert (found["within"], found["silent_reward"], found["decisions"]) == (None, 0.75, 3)
        client.create("plain", arms=["red"])
        with pytest.raises(InvalidRequestError, match="'plain' has no holdout"):
            uplift_of(store, named(store, "plain"), time.now, None)


def test_after_retention_only_whole_tickets_count() -> None:
    """Those that were decided before the checkpoint have lost their rows, or some of them."""
    time = Time()
    with (
        open_store("memory:") as store,
        thread_client(store, clock=time, monotonic=time) as client,
    ):
        client.create("shop", arms=["red", "green"], holdout=HOLDOUT)
        made = asked(client, 4)
        for each in made[:3]:
            client.tell(each.ticket, 0.5)
        time.now += DAY
        later = asked(client, 2)
        client.tell(later[0].ticket, 0.5)
        client.tell(made[3].ticket, 0.5)
        prepared = retention.prepared(store, DAY / 2, time.now, None)
        assert prepared is not None
        done = client.do(
            RunOnThread(lambda store, replicas: retention.commit(store, replicas, prepared))
        )
        assert done
        assert sum(retention.sweep(store)) > 0
        found = uplift(store, time.now)
        assert (found["decisions"], found["waiting"]) == (1, 1)


def test_an_effect_is_found_from_the_journal(address: str) -> None:
    """The second arm earns more: 0 is below the interval; and the learner is not told apart from
    a control that plays as it does.
    """
    with open_store(address) as store, thread_client(store, seed=4) as client:
        client.create("shop", arms=["red", "green"], learner="uniform", holdout=HOLDOUT)
        for _ in range(3):
            made = client.do(Ask("shop", 500))
            losses = [(each.ticket, 0.1 if each.arm == "green" else 0.9) for each in made]
            client.do(Tell([TicketReport(*each) for each in losses]))
        client.catch_up()
        found = uplift(store, 2e9)
        assert found["uplift"]["low"] > 0.0
        assert found["uplift"]["low"] < 0.4 < found["uplift"]["high"]
        assert found["uplift"]["relative"] == pytest.approx(4.0, rel=0.25)


def test_segments_are_values_of_the_context() -> None:
    """Each counts its own decisions; those without the field are one, and so are rare ones."""
    with open_store("memory:") as store, thread_client(store, seed=4) as client:
        client.create("shop", arms=["red", "green"], learner="linear", holdout=HOLDOUT)
        contexts = [{"device": "phone"}, {"device": "desk"}, {"size": 1.0}]
        contexts += [{"device": f"d{number}"} for number in range(29)] + [{"device": "x" * 999}]
        texts = tuple(canonical(contexts[number % 33]) for number in range(99))
        made = client.do(Ask("shop", 99, contexts=texts))
        rewards = [1.0 if number % 33 == 0 else 0.0 for number in range(99)]
        pairs = zip(made, rewards, strict=True)
        client.do(Tell([TicketReport(each.ticket, reward=reward) for each, reward in pairs]))
        found = uplift_of(store, named(store, "shop"), 2e9, None, "device")
        segments = {each["segment"]: each for each in found["segments"]}
        assert found["by"] == "device"
        assert len(segments) == 21
        assert max(map(len, segments)) <= 83
        assert sum(each["decisions"] for each in segments.values()) == 99
        assert segments["phone"]["decisions"] == segments["(none)"]["decisions"] == 3
        means = [segments["phone"][name] for name in ("treatment", "control")]
        assert {mean for mean in means if mean is not None} == {1.0}
