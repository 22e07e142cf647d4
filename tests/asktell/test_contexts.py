"""Contexts, eligible arms and least shares in ask and tell."""

import json
import math
from typing import Any

import numpy as np
import pytest

import belated
from belated.asktell.saving import checksum
from belated.asktell.shares import shares_of

KINDS = {"age": "number", "device": ["phone", "desktop"]}


def shop(**options: Any) -> belated.Bandit:
    given = {"learner": "linear", "features": KINDS, "seed": 3} | options
    return belated.Bandit(["red", "green", "blue"], **given)


def used(bandit: belated.Bandit, rounds: int = 12) -> None:
    """Some rounds in which phones like red, told one round late."""
    random = np.random.default_rng(1)
    before = None
    for _ in range(rounds):
        device = "phone" if random.random() < 0.5 else "desktop"
        ticket = bandit.ask(context={"age": float(random.normal(40, 9)), "device": device})
        if before is not None:
            bandit.tell(before[0], reward=float((before[0].arm == "red") == (before[1] == "phone")))
        before = ticket, device


def test_a_ticket_shows_its_context_and_all_probabilities() -> None:
    bandit, context = shop(), {"age": 31, "device": "phone"}
    used(bandit)
    expected = bandit.weights(context=context)
    ticket = bandit.ask(context=context)
    assert ticket.probabilities == expected
    assert ticket.probability == expected[ticket.arm]
    assert ticket.context == context
    context["age"] = 99
    assert ticket.context["age"] == 31
    assert bandit.tell(ticket, reward=1).counted


def test_a_look_changes_nothing() -> None:
    bandit = shop()
    used(bandit)
    before = bandit.to_json()
    one = bandit.weights(context={"age": 20, "device": "phone"})
    other = bandit.weights(context={"age": 70, "device": "desktop"}, arms=["red", "blue"])
    assert one != other
    assert other["green"] == 0.0
    assert math.fsum(other.values()) == pytest.approx(1.0)
    assert bandit.to_json() == before


def test_some_arms_only() -> None:
    """The draw is that of a bandit whose best arm is the best of these, not a share of all."""
    bandit = shop()
    used(bandit)
    for _ in range(5):
        ticket = bandit.ask(context={"age": 31, "device": "phone"}, arms=["blue", "green"])
        assert ticket.arm in ("blue", "green")
        assert ticket.probabilities.keys() == {"green", "blue"}
        assert max(ticket.probabilities.values()) >= 0.5
    assert bandit.ask().probabilities.keys() == {"red", "green", "blue"}


def test_saved_with_open_tickets_it_goes_on_exactly() -> None:
    bandit = shop(default_loss=1, expire_after=4)
    used(bandit)
    pending = bandit.ask(context={"age": 31, "device": "phone"}, arms=["red", "blue"])
    resumed = belated.from_json(bandit.to_json())
    assert resumed.pending() == bandit.pending()
    assert resumed.pending()[-1] == pending
    for each in (bandit, resumed):
        each.tell(pending, reward=1)
        used(each, 6)
    assert resumed.to_json() == bandit.to_json()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"context": {"aeg": 1}}, "'aeg', which features does not declare"),
        ({"context": {"age": math.nan}}, "'age' is nan"),
        ({"context": {"age": "old"}}, "'age' is 'old'; it must be a number"),
        ({"arms": ["pink"]}, "arms names 'pink'"),
        ({"arms": []}, "arms is empty"),
        ({"arms": "red"}, "arms is 'red'; it must be a list"),
    ],
)
def test_bad_asks_change_nothing(given: dict[str, Any], said: str) -> None:
    bandit = shop()
    used(bandit, 3)
    before = bandit.to_json()
    with pytest.raises(ValueError, match=said):
        bandit.ask(**given)
    assert bandit.to_json() == before


@pytest.mark.parametrize("learner", ["practical-bandit", "thompson", "uniform"])
def test_learners_without_contexts_can_leave_arms_out(learner: str) -> None:
    bandit = belated.Bandit(4, learner=learner, seed=5)
    for _ in range(20):
        all_arms = bandit.weights()
        ticket = bandit.ask(arms=[1, 3])
        both = all_arms[1] + all_arms[3]
        assert ticket.probabilities == pytest.approx({k: all_arms[k] / both for k in (1, 3)})
        assert ticket.probability == ticket.probabilities[ticket.arm]
        bandit.tell(ticket, float(ticket.arm == 1))
    assert bandit.ask().probabilities is None
    resumed = belated.from_json(bandit.to_json())
    assert resumed.ask(arms=[0, 2]) == bandit.ask(arms=[0, 2])


def test_other_learners_refuse_to_leave_arms_out() -> None:
    with pytest.raises(ValueError, match="exp3 would take an arm that could not be drawn"):
        belated.Bandit(3, learner="exp3").ask(arms=[0])
    with pytest.raises(ValueError, match="takes none"):
        belated.Bandit(3).ask(context={"age": 3})


@pytest.mark.parametrize("learner", ["practical-bandit", "exp3", "concealed", "linear"])
def test_every_arm_has_its_least_share(learner: str) -> None:
    bandit = belated.Bandit(4, learner=learner, minimum_share=0.05, seed=6)
    for _ in range(40):
        ticket = bandit.ask()
        assert min(ticket.probabilities.values()) >= 0.05
        assert math.fsum(ticket.probabilities.values()) == pytest.approx(1.0)
        bandit.tell(ticket, float(ticket.arm != 2))
    assert belated.from_json(bandit.to_json()).ask() == bandit.ask()


def test_a_least_share_must_fit() -> None:
    with pytest.raises(ValueError, match=r"minimum_share is 0.4; .* at most 0.333333"):
        belated.Bandit(3, minimum_share=0.4)


def test_shares_by_hand() -> None:
    q, eligible = np.array([0.5, 0.3, 0.2]), np.array([0.0, 1.0, 1.0])
    np.testing.assert_allclose(shares_of(q, eligible, 0.0), [0.0, 0.6, 0.4])
    np.testing.assert_allclose(shares_of(q, eligible, 0.1), [0.0, 0.58, 0.42])
    np.testing.assert_allclose(shares_of(q, None, 0.1), [0.45, 0.31, 0.24])


def test_a_large_state_is_saved_in_little_space() -> None:
    """K = 10, d = 33: under 200 kB, and read back exactly; a damaged part is refused."""
    bandit = belated.Bandit(10, learner="linear", features=32, seed=8)
    model, random = bandit._runner.workspace.state.model, np.random.default_rng(9)
    for part in (model.ridge.inverse, model.ridge.rewards, model.ridge.weights):
        part += random.random(part.shape)
    text = bandit.to_json()
    assert len(text) < 150_000
    assert belated.from_json(text).to_json() == text
    content = json.loads(text)
    assert isinstance(content["state"]["model.ridge.inverse"], str)
    for damaged in ("", "!", content["state"]["model.ridge.inverse"][:400]):
        content["state"]["model.ridge.inverse"] = damaged
        del content["checksum"]
        content["checksum"] = checksum(content)
        with pytest.raises(belated.StateFormatError):
            belated.from_json(json.dumps(content))
