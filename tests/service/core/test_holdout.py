"""A holdout: a control draws a share of the decisions, and all of it is logged exactly."""

import math
from typing import Any

import pytest

from belated.service.admin.export import rows_of
from belated.service.admin.verify import verified_at_rest
from belated.service.core.errors import StateConflictError
from belated.service.core.holdout import CONTROL, TREATMENT
from belated.service.core.problems import checked_spec
from belated.service.store import Decision, open_store
from tests.service.core.thread_client import thread_client

ARMS = ["red", "green", "blue"]
SOME = frozenset(["green", "blue"])


@pytest.mark.parametrize("arm", [None, "red"])
def test_the_cohort_and_the_probability_of_both_draws_are_written(
    address: str, arm: str | None
) -> None:
    """The fold agrees after a restart, and verification finds the mixture in every row."""
    share, number = 0.25, 200
    with open_store(address) as store:
        with thread_client(store) as client:
            holdout = {"share": share, "arm": arm}
            client.create("ads", arms=ARMS, learner="practical-bandit", holdout=holdout)
            for count in range(number):
                made = client.ask("ads", among=SOME if count % 4 == 0 else None)
                assert made.probability is not None
                if made.cohort == CONTROL and arm is not None and count % 4:
                    assert made.arm == arm
                if made.arm == arm or arm is None:
                    assert made.probability >= share / 3.0
                client.tell(made.ticket, 0.25 if made.arm == "green" else 0.75)
            states = client.states()
        with thread_client(store) as client:
            assert client.states() == states
        (result,) = verified_at_rest(store)
        assert result.is_clean, result.complaints
        if store.one_owner:
            assert result.judged == number
            assert result.gap < 1e-12
        problem = store.problem("ads")
        assert problem is not None
        rows = rows_of(store, problem)
    held = sum(row.cohort == CONTROL for row in rows)
    assert held + sum(row.cohort == TREATMENT for row in rows) == number
    assert abs(held - share * number) < 4.0 * math.sqrt(share * (1.0 - share) * number)


def test_the_learner_weighs_with_the_probability_of_both_draws() -> None:
    """A wrong number in the row is noticed; the mean of the weights of each arm is 1."""
    with open_store("memory:") as store, thread_client(store, seed=3) as client:
        holdout = {"share": 0.5, "arm": "red"}
        client.create("ads", arms=["red", "green"], learner="exp3", holdout=holdout)
        made: list[Decision] = []
        for _ in range(2000):
            made.append(client.ask("ads"))
            client.tell(made[-1].ticket, 0.9 if made[-1].arm == "red" else 0.1)
    for arm in ("red", "green"):
        weights = [1.0 / (each.probability or 0.0) for each in made if each.arm == arm]
        error = math.sqrt(sum(each * each for each in weights)) / len(made)
        assert abs(sum(weights) / len(made) - 1.0) < 4.0 * error
    late = [each for each in made[1000:] if each.cohort == TREATMENT]
    assert sum(each.arm == "green" for each in late) > 0.9 * len(late)
    assert all(each.arm == "red" for each in made if each.cohort == CONTROL)


@pytest.mark.parametrize(
    ("holdout", "said"),
    [
        ({"share": 1e-320}, "it must be from 0.0001 to 0.9999"),
        ({"share": 1.0}, "the share of holdout is 1.0; it must be from 0.0001 to 0.9999"),
        ({"share": 0.1, "arm": "pink"}, "the arm of holdout is 'pink'; it must be one of red"),
        ({"arm": "red"}, "it must have a share"),
        (0.1, "holdout is 0.1; it must have a share"),
        ({"share": 0.1, "arm": "red", "weights": {"red": 1}}, "holdout has an arm and weights"),
        ({"share": 0.1, "weights": {"pink": 1}}, "they must be weights of red, green, blue"),
        ({"share": 0.1, "weights": {"red": 0.5}}, "they must be from 0 to 1, and their sum 1"),
        ({"share": 0.1, "weights": {"red": 2, "blue": -1}}, "they must be from 0 to 1"),
    ],
)
def test_a_wrong_holdout_is_refused(holdout: Any, said: str) -> None:
    """One sentence says which value is wrong, and what it must be."""
    with pytest.raises(ValueError, match=said):
        checked_spec({"arms": ARMS, "holdout": holdout})


def test_a_control_may_keep_the_weights_of_a_previous_learner() -> None:
    """It draws by them, also among some arms; verification finds the mixture in every row."""
    weights = {"red": 0.7, "green": 0.3}
    with open_store("memory:") as store:
        with thread_client(store) as client:
            holdout = {"share": 0.5, "weights": weights}
            client.create("ads", arms=ARMS, learner="practical-bandit", holdout=holdout)
            made = [client.ask("ads") for _ in range(400)]
            held = [each.arm for each in made if each.cohort == CONTROL]
            assert set(held) == {"red", "green"}
            error = math.sqrt(0.21 / len(held))
            assert abs(held.count("red") / len(held) - 0.7) < 4.0 * error
            some = [client.ask("ads", among=SOME) for _ in range(40)]
            assert {each.arm for each in some if each.cohort == CONTROL} == {"green"}
            with pytest.raises(StateConflictError, match="arm 'green' is to be removed"):
                client.change_arms("ads", remove=["green"])
            assert client.change_arms("ads", remove=["blue"]) == ("red", "green")
        (result,) = verified_at_rest(store)
        assert result.is_clean, result.complaints


def test_experts_have_none_and_the_control_arm_stays() -> None:
    """Experts draw no arm; a control whose arm was removed would draw nothing."""
    with pytest.raises(ValueError, match="holdout is given for experts"):
        checked_spec({"kind": "experts", "arms": ARMS, "holdout": {"share": 0.1}})
    with open_store("memory:") as store, thread_client(store) as client:
        holdout = {"share": 0.1, "arm": "red"}
        client.create("ads", arms=ARMS, learner="practical-bandit", holdout=holdout)
        with pytest.raises(StateConflictError, match="the control of the holdout of 'ads'"):
            client.change_arms("ads", remove=["red"])
        assert client.change_arms("ads", remove=["green"]) == ("red", "blue")
