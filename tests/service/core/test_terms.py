"""Terms of a problem that change while it is in use, in every kind of store."""

from typing import Any

import pytest

from belated.learners.practical.practical_bandit import PracticalBandit
from belated.service.admin import offline
from belated.service.admin.change_terms import change_terms
from belated.service.admin.verify import verified_at_rest
from belated.service.core.errors import InvalidRequestError, StateConflictError, TicketExpiredError
from belated.service.core.problems import checked_spec, served
from belated.service.core.replicas import Replicas
from belated.service.core.requests import RunOnThread, SetStatus
from belated.service.store import ProblemRecord, Store, open_store
from belated.service.web.views import problem_view
from tests.service.core.thread_client import ThreadClient, thread_client


def change(client: ThreadClient, **terms: Any) -> None:
    """Other terms for ads."""
    client.do(RunOnThread(lambda store, replicas: change_terms(store, replicas, "ads", terms, 1.0)))


def terms_in(client: ThreadClient) -> tuple[Any, ...]:
    """The terms that the replica goes by."""
    problem = client.do(RunOnThread(lambda store, replicas: replicas.named("ads").problem))
    return problem.expire_after, problem.expire_seconds, problem.default_loss


def test_terms_are_for_what_comes(address: str) -> None:
    """A ticket keeps its deadline; what expires later counts with the new default loss."""
    with open_store(address) as store:
        with thread_client(store) as client:
            client.create("ads", arms=["a"], loss_range=[0, 10], expire_after=2, default_loss=10)
            first = client.ask("ads")
            change(client, expire_after=50, default_loss=5)
            assert terms_in(client) == (50, None, 0.5)
            second = client.ask("ads")
            assert (first.expires_round, second.expires_round) == (3, 52)
            client.ask("ads")
            client.ask("ads")
            with pytest.raises(TicketExpiredError, match="with the default loss 5"):
                client.tell(first.ticket, 0.0)
            assert client.tell(second.ticket, 0.0).counted
            states = client.states()
        with thread_client(store) as client:  # from the snapshot that was taken at the end
            assert terms_in(client) == (50, None, 0.5)
            assert client.states() == states
        outline = offline.outline(store, offline.named(store, "ads"))
        assert (outline["expire_after"], outline["default_loss"]) == (50, 5)
        offline.change_terms(store, "ads", {"expire_seconds": 60.0, "expire_after": None}, 9.0)
        assert all(result.is_clean for result in verified_at_rest(store))
        with thread_client(store) as client:
            assert terms_in(client) == (None, 60.0, 0.5)
            assert client.ask("ads").expires_round is None


def test_a_problem_may_begin_to_expire(address: str) -> None:
    """Every worker goes by the new terms once it has read of them."""
    with open_store(address) as store, thread_client(store) as client:
        client.create("ads", arms=["a"])
        change(client, expire_after=3, default_loss=1.0)
        if not store.one_owner:
            with open_store(address) as other, thread_client(other) as another:
                assert another.ask("ads").expires_round == 4
        else:
            assert client.ask("ads").expires_round == 4


def test_what_cannot_be_is_refused(address: str) -> None:
    """In one sentence, and nothing changes; the same terms again are no event."""
    with open_store(address) as store, thread_client(store) as client:
        client.create("ads", arms=["a"], expire_after=3, default_loss=1.0)
        before = len(store.notes("ads"))
        for terms, sentence in (
            ({}, "no term is given"),
            ({"default_loss": 2.0}, r"default_loss is 2\.0; it must be in \[0, 1\]"),
            ({"expire_after": -1}, "expire_after is -1"),
            ({"expire_after": None}, "exp3 does not ask what silence means"),
            ({"default_loss": None}, "a play that expires needs a default_loss"),
            ({"expire_after": None, "default_loss": None}, "cannot stop to expire"),
        ):
            with pytest.raises(InvalidRequestError, match=sentence):
                change(client, **terms)
        change(client, expire_after=3)
        assert len(store.notes("ads")) == before
        client.do(SetStatus("ads", "archived"))
        with pytest.raises(StateConflictError, match="is archived"):
            change(client, expire_after=4)


def concern_in(client: ThreadClient) -> str | None:
    """What the user should change about ads, by a replica that has read all events."""

    def look(store: Store, replicas: Replicas) -> str | None:
        if not store.one_owner:
            replicas.catch_up()
        concern: str | None = problem_view(replicas.named("ads"))["concern"]
        return concern

    found: str | None = client.do(RunOnThread(look))
    return found


def test_what_silence_means_can_be_declared_in_use(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Where it is needed a line of the log and a field say so; default_loss alone declares it."""
    sentence = (
        "all 16 losses told so far are 0; silence is taken to mean a loss of 9; "
        "set default_loss to say what it means"
    )
    with open_store(address) as store:
        with thread_client(store) as client:
            client.create("ads", arms=["a", "b"], learner="practical-bandit", loss_range=[0, 9])
            for number in range(32):
                decision = client.ask("ads")
                if number % 2 == 0:
                    client.tell(decision.ticket, 0.0)
            assert concern_in(client) == sentence
            assert caplog.text.count(f"problem 'ads': {sentence}") == 1
            change(client, default_loss=6.0)
            assert terms_in(client) == (None, None, 6.0 / 9.0)
            assert concern_in(client) is None
            states = client.states()
        with thread_client(store) as client:
            assert client.states() == states
            change(client, default_loss=None)
            assert concern_in(client) is not None
        assert all(result.is_clean for result in verified_at_rest(store))


def test_a_default_loss_is_no_option_of_the_learner() -> None:
    """There is one place for it, in the units of the problem; others do not take it alone."""
    with pytest.raises(ValueError, match="give it as a field of the problem"):
        checked_spec({"arms": ["a", "b"], "options": {"default_loss": 0.5}})
    with pytest.raises(ValueError, match="thompson does not ask what silence means"):
        checked_spec({"arms": ["a", "b"], "learner": "thompson", "default_loss": 1})
    spec = checked_spec({"arms": ["a", "b"], "loss_range": [0, 4], "default_loss": 3})
    learner = served(ProblemRecord("ads", spec, 1.0)).learner
    assert (spec["default_loss"], learner) == (3.0, PracticalBandit(2, default_loss=0.75))
    certified = checked_spec({"arms": ["a"], "options": {"certified": False}})["options"]
    assert certified == {"certified": False}
