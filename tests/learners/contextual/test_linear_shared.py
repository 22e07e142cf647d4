"""`linear-shared`: its literal twin, arms that are new in each round, saving, and bad calls."""

import math
from typing import Any

import numpy as np
import pytest

import belated
from belated.arrays import Floats
from belated.learners.contextual.linear_shared import LinearShared
from belated.learners.driver import Driver
from tests.twins.linear_shared import LinearSharedTwin

CLOSE = 1e-9


def follow(driver: Driver, twin: LinearSharedTwin, widths: tuple[int, int], seed: int) -> None:
    """Play 70 rounds of both, with other arms in each, late and lost reports, and withdrawals."""
    random, arms = np.random.default_rng(seed), driver.learner.arms
    rows: list[tuple[Floats, int]] = []
    due: dict[int, list[tuple[int, float]]] = {}
    for t in range(1, 71):
        context = random.normal(3.0, 2.0, widths[0])
        actions = random.normal(-1.0, 5.0, (arms, widths[1]))
        allowed = sorted(random.choice(arms, int(random.integers(1, arms + 1)), replace=False))
        eligible = np.isin(np.arange(arms), allowed) * 1.0
        driver.learner.consider(driver.state, context, eligible, actions)  # type: ignore[call-arg]
        q = driver.predict().q
        expected = twin.ask_of(context, actions, [int(each) for each in allowed])
        np.testing.assert_allclose(q, expected, rtol=CLOSE, atol=CLOSE)
        arm = int(random.choice(arms, p=q / q.sum()))
        rows.append((driver.play(arm)[0], arm))
        twin.play_arm(arm)
        loss = float(actions[arm, 0] + random.normal() < 0.0) if widths[1] else 0.5
        if random.random() < 0.8:
            delay = int(random.geometric(0.2 if loss else 0.05)) - 1
            due.setdefault(t + delay, []).append((t, loss))
        elif random.random() < 0.3:
            due.setdefault(t + 5, []).append((t, math.nan))
        for played, told in due.pop(t, []):
            row, of_arm = rows[played - 1]
            if math.isnan(told):
                driver.withdraw(row, of_arm)
                twin.withdraw(played)
            else:
                driver.tell(row, of_arm, told)
                twin.tell(played, told)


@pytest.mark.parametrize(
    ("widths", "default_loss"), [((2, 2), None), ((2, 3), 1.0), ((0, 2), None), ((1, 0), 1.0)]
)
def test_every_q_is_that_of_the_twin(widths: tuple[int, int], default_loss: float | None) -> None:
    """With two coordinates for crosses, so that most of them are hashed."""
    learner = LinearShared(
        4, features=widths[0], action_features=widths[1], cross_bits=1, default_loss=default_loss
    )
    crossed = min(2, widths[0] * widths[1])
    width = sum(widths) + crossed + 1
    assert learner.width == width
    twin = LinearSharedTwin(1, width, default_loss, crossed=2)
    follow(Driver(learner), twin, widths, seed=sum(widths))


def test_without_crosses_that_are_hashed_each_pair_has_its_place() -> None:
    learner = LinearShared(3, features=2, action_features=3, cross_bits=3)
    assert learner.width == 2 + 3 + 6 + 1
    follow(Driver(learner), LinearSharedTwin(1, 12, crossed=8), (2, 3), seed=9)


# -- ask and tell


def prices(**options: Any) -> belated.Bandit:
    given = {
        "learner": "linear-shared",
        "seed": 4,
        "action_features": {"price": "number"},
    } | options
    return belated.Bandit(3, features={"rich": "number"}, **given)


def used(bandit: belated.Bandit, rounds: int, seed: int = 1) -> int:
    """How often a cheap offer was made to the poor and a dear one to the rich, of the last 50.

    All offers are new in each round, and are told a few rounds later.
    """
    random, right, waiting = np.random.default_rng(seed), 0, []
    for t in range(rounds):
        rich, first = float(random.integers(2)), bandit.round * 10
        offered = {f"offer {first + k}": {"price": float(random.normal())} for k in range(3)}
        ticket = bandit.ask(context={"rich": rich}, actions=offered)
        assert ticket.probabilities.keys() == offered.keys()
        assert math.fsum(ticket.probabilities.values()) == pytest.approx(1.0)
        price = offered[ticket.arm]["price"]
        liked = price if rich else -price
        waiting.append((ticket, float(random.random() < 1.0 / (1.0 + math.exp(-3.0 * liked)))))
        if len(waiting) > 5:
            each, reward = waiting.pop(0)
            bandit.tell(each, reward=reward)
        prefers = sorted(each["price"] for each in offered.values())
        right += t >= rounds - 50 and price == prefers[-1 if rich else 0]
    return right


def test_arms_that_are_new_in_each_round_are_told_apart() -> None:
    """By price and by who is asked: chance would be right 17 times of 50."""
    assert used(prices(), 130) > 33


def test_saved_with_open_tickets_it_goes_on_exactly() -> None:
    bandit = prices(default_loss=1, expire_after=9)
    used(bandit, 20)
    resumed = belated.from_json(bandit.to_json())
    assert resumed.pending() == bandit.pending()
    assert resumed.outstanding() == bandit.outstanding()
    for each in (bandit, resumed):
        used(each, 20, seed=2)
    assert resumed.to_json() == bandit.to_json()


def test_a_look_changes_nothing_and_foretells_the_next_draw() -> None:
    bandit = prices()
    used(bandit, 20)
    before = bandit.to_json()
    offered = {"a": {"price": 0.5}, "b": {"price": -2}, "c": None}
    shares = bandit.weights(context={"rich": 1}, actions=offered, arms=["a", "c"])
    assert bandit.to_json() == before
    assert shares["b"] == 0.0
    ticket = bandit.ask(context={"rich": 1}, actions=offered, arms=["a", "c"])
    assert ticket.probabilities == {arm: shares[arm] for arm in ("a", "c")}


def test_without_features_arms_are_all_alike() -> None:
    bandit = prices()
    used(bandit, 10)
    assert set(bandit.weights(context={"rich": 1}).values()) == {1.0 / 3.0}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"actions": {}}, "names from 1 to 3 arms"),
        ({"actions": dict.fromkeys("abcd")}, "names from 1 to 3 arms"),
        ({"actions": ["a"]}, "it must be a dict"),
        ({"actions": {"a": {"prize": 3}}}, "in the features of 'a', context has the name 'prize'"),
        ({"actions": {"a": {"price": math.nan}}}, "in the features of 'a', 'price' is nan"),
        ({"actions": {1.5: None}}, "arm 1.5 is no name"),
        ({"actions": {"a": None}, "arms": ["b"]}, "'b', which is not an arm of this round"),
        ({"actions": {"a": None}, "arms": []}, "arms is empty"),
    ],
)
def test_bad_asks_change_nothing(given: dict[str, Any], said: str) -> None:
    bandit = prices()
    used(bandit, 3)
    before = bandit.to_json()
    with pytest.raises(ValueError, match=said):
        bandit.ask(**given)
    assert bandit.to_json() == before


@pytest.mark.parametrize("learner", ["linear", "practical-bandit", "exp3"])
def test_others_take_no_features_of_arms(learner: str) -> None:
    with pytest.raises(ValueError, match="takes no features of arms; linear-shared does"):
        belated.Bandit(2, learner=learner).ask(actions={0: {"price": 3}})


def test_bad_options_are_refused() -> None:
    with pytest.raises(ValueError, match="cross_bits is 9"):
        LinearShared(2, cross_bits=9)
    with pytest.raises(ValueError, match="so take fewer hash_bits"):
        LinearShared(10_000, hash_bits=8)
