"""A draw from some of the arms, in every kind of store."""

from collections import Counter

import pytest

from belated.service.admin.verify import verified_at_rest
from belated.service.contexts import canonical
from belated.service.core.errors import InvalidRequestError
from belated.service.core.requests import Ask
from belated.service.store import open_store
from tests.service.core.thread_client import thread_client

ARMS = ["red", "green", "blue"]
SOME = frozenset(["red", "green"])


@pytest.mark.parametrize("learner", ["practical-bandit", "thompson", "uniform"])
def test_the_true_probability_is_written_and_verified(address: str, learner: str) -> None:
    """Only these arms are drawn, with their weights divided by the sum; the fold agrees."""
    drawn: Counter[str] = Counter()
    with open_store(address) as store:
        with thread_client(store) as client:
            client.create("ads", arms=ARMS, learner=learner)
            for number in range(60):
                made = client.ask("ads", among=SOME if number % 2 else None)
                if number % 2:
                    assert made.weights is not None
                    assert set(made.weights) == SOME
                    assert sum(made.weights.values()) == pytest.approx(1.0)
                    assert made.weights[made.arm or ""] == made.probability
                    drawn[made.arm or ""] += 1
                assert client.tell(made.ticket, 0.25 if made.arm == "red" else 0.75).counted
            states = client.states()
        assert set(drawn) == SOME
        with thread_client(store) as client:
            assert client.states() == states
        (result,) = verified_at_rest(store)
        assert result.is_clean, result.complaints
        if store.one_owner:
            assert result.judged == 60
            assert result.gap < 1e-12


def test_no_request_writes_too_much() -> None:
    """Where arms are left out all weights are written; and actions are kept with each decision."""
    arms = [str(number) for number in range(2000)]
    with open_store("memory:") as store, thread_client(store) as client:
        client.create("many", arms=arms, learner="uniform")
        with pytest.raises(InvalidRequestError, match=r"it must be from 1 to 50$"):
            client.do(Ask("many", 51, among=frozenset(arms[:-1])))
        client.create("prices", arms=ARMS, learner="linear-shared")
        actions = canonical({arm: {"text": "x" * 100_000} for arm in ARMS})
        with pytest.raises(InvalidRequestError, match=r"it must be from 1 to 13$"):
            client.do(Ask("prices", 14, actions=actions))
        assert client.do(Ask("many", 51))[0].round == 1


def test_what_cannot_be_drawn_is_refused() -> None:
    """A learner that would learn from it wrongly, experts, and arms that are none."""
    with open_store("memory:") as store, thread_client(store) as client:
        client.create("ads", arms=ARMS, learner="exp3")
        client.create("weather", arms=ARMS, kind="experts", learner="practical-experts")
        client.create("plain", arms=ARMS, learner="uniform")
        for problem in ("ads", "weather"):
            with pytest.raises(InvalidRequestError, match="some arms are left out"):
                client.ask(problem, among=SOME)
        with pytest.raises(InvalidRequestError, match="arms names 'pink', which is no arm of 'pl"):
            client.ask("plain", among=frozenset(["pink"]))
        with pytest.raises(InvalidRequestError, match="arms is empty for 'plain'"):
            client.ask("plain", among=frozenset())
        assert client.ask("plain").round == 1
