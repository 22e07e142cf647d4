"""Several workers: a decision is booked in the branch that it was drawn from, whoever folds it."""

import pytest

from belated.learners.paper.concealed import WEIGHT
from belated.learners.practical.practical_bandit import BY_FALLBACK, TRUSTED
from belated.service.admin.verify import verified_at_rest
from belated.service.core.replicas import Replicas
from belated.service.store import Decision, Store
from tests.service.core.thread_client import catch_up, thread_client
from tests.service.material import whole_journal

ARMS = ["red", "green"]


def folded(store: Store) -> Replicas:
    """The problems of a store, folded from its journal."""
    replicas = Replicas(store)
    catch_up(replicas)
    return replicas


def test_decisions_keep_the_branch_of_their_draw(store: Store) -> None:
    """Both branches are in the journal of a game in which the likelier arm loses."""
    with thread_client(store) as thread:
        thread.create("shop", arms=ARMS, learner="practical-bandit", options={"beta": 0.0})
        thread.create("others", arms=ARMS, learner="exp3")
        assert thread.ask("others").branch is None
        for _ in range(40):
            decided = thread.ask("shop")
            thread.tell(decided.ticket, float((decided.probability or 0.0) >= 0.5))
    bodies = [event.body for event in whole_journal(store)]
    ways = {body.branch for body in bodies if isinstance(body, Decision) and body.problem == "shop"}
    assert ways == {TRUSTED, BY_FALLBACK}
    found = {result.problem: result.is_clean for result in verified_at_rest(store)}
    assert found["shop"]


@pytest.mark.parametrize("branch", [TRUSTED, BY_FALLBACK, None])
def test_a_decision_of_an_older_state_is_folded_as_it_was_drawn(
    store: Store, branch: int | None
) -> None:
    """The first round is trusted by every state; one without a branch, as of old, goes by that."""
    with thread_client(store) as thread:
        thread.create("shop", arms=ARMS, learner="practical-bandit")
    late = Decision("a" * 26, "shop", 1, "red", 0.25, None, "", 2.0, branch=branch)
    store.append([late], [])
    replica = folded(store).by_name["shop"]
    row = replica.open["a" * 26].row_of(0)
    assert (row[WEIGHT] > 0.0) == (branch == BY_FALLBACK)
    assert replica.state.fallback.outstanding.sum() == (branch == BY_FALLBACK)
