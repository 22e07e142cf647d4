"""Terms of a problem that change while it is in use, in every kind of store."""

from typing import Any

import pytest

from belated.service.admin import offline
from belated.service.admin.change_terms import change_terms
from belated.service.admin.verify import verified_at_rest
from belated.service.core.errors import InvalidRequestError, StateConflictError, TicketExpiredError
from belated.service.core.requests import RunOnThread, SetStatus
from belated.service.store import open_store
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
            ({"expire_after": None}, "needs a default_loss, and only then"),
            ({"expire_after": None, "default_loss": None}, "cannot stop to expire"),
        ):
            with pytest.raises(InvalidRequestError, match=sentence):
                change(client, **terms)
        change(client, expire_after=3)
        assert len(store.notes("ads")) == before
        client.do(SetStatus("ads", "archived"))
        with pytest.raises(StateConflictError, match="is archived"):
            change(client, expire_after=4)
