"""Bandits that are told by arm: the oldest play first, and nothing that does not fit."""

from typing import Any

import numpy as np
import pytest

from belated.adapters.hosted import HostedBandit, hosted_learner
from belated.learners.driver import Driver
from belated.learners.registry import learner_named


def test_a_reward_is_told_to_the_oldest_play_of_its_arm() -> None:
    """Bit for bit as the plays themselves, told in this order."""
    bandit, driver = HostedBandit("ab", "exp3", seed=5), Driver(learner_named("exp3")(arms=2))
    rows: dict[str, list[Any]] = {"a": [], "b": []}
    random = np.random.default_rng(3)
    for _ in range(60):
        assert bandit.weights() == dict(zip("ab", driver.weights().tolist(), strict=True))
        arm = bandit.ask()
        (row,) = driver.play("ab".index(arm))
        rows[arm].append(row)
        for each in "ab":
            if rows[each] and random.random() < 0.4:
                loss = float(random.random())
                bandit.tell(each, loss)
                driver.tell(rows[each].pop(0), "ab".index(each), loss)
            elif rows[each] and random.random() < 0.1:
                bandit.withdraw(each)
                driver.withdraw(rows[each].pop(0), "ab".index(each))


def test_a_play_of_another_program_counts_with_its_probability() -> None:
    """A loss is divided by the probability with which its arm was drawn."""
    bandit, driver = HostedBandit("ab", "exp3"), Driver(learner_named("exp3")(arms=2))
    bandit.played("b", 0.125)
    bandit.tell("b", 1.0)
    (row,) = driver.play(1, probability=0.125)
    driver.tell(row, 1, 1.0)
    assert list(bandit.weights().values()) == driver.weights().tolist()


def test_what_does_not_fit_is_refused_and_changes_nothing() -> None:
    """In one sentence."""
    bandit = HostedBandit(["a", "b"], "exp3")
    before = bandit.weights()
    with pytest.raises(ValueError, match="arm is 'c'; it must be one of 'a', 'b'"):
        bandit.tell("c", 0.5)
    with pytest.raises(ValueError, match="no play of it is open"):
        bandit.tell("a", 0.5)
    with pytest.raises(ValueError, match="exp3 takes none"):
        bandit.ask(context=[1.0])
    assert bandit.weights() == before
    context = HostedBandit(["a", "b"], "linear", features=2)
    with pytest.raises(ValueError, match=r"shape \(1,\); linear must have 2 numbers"):
        context.ask(context=[1.0])
    context.ask(context=[1.0, 2.0])


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("practical-experts", {}, "use belated.Experts"),
        ("partially-concealed", {"horizon": 9, "max_missing": 1}, "such as practical-bandit"),
        ("log-barrier", {}, "must know horizon here"),
        ("exp3", {"window": 3}, "such as practical-bandit"),
        ("exp3", {"rate": 1}, "exp3 has no option 'rate'"),
        ("dew-skipping", {}, "dew-skipping must know|such as practical-bandit"),
    ],
)
def test_a_learner_that_needs_more_is_refused(
    name: str, options: dict[str, Any], sentence: str
) -> None:
    """It must be a bandit that is told each loss when it arrives."""
    with pytest.raises(ValueError, match=sentence):
        hosted_learner(name, 2, options)


def test_arms_change_with_their_open_plays() -> None:
    """Plays of kept arms stay open, at their new places."""
    bandit = HostedBandit(["a", "b"], "exp3", seed=1)
    bandit.played("a", 0.5)
    bandit.played("b", 0.5)
    bandit.change_arms(["b"], ["c"])
    assert bandit.arms == ["b", "c"]
    bandit.tell("b", 1.0)
    weights = bandit.weights()
    assert weights["b"] < weights["c"]
