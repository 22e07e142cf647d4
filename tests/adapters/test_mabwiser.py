"""A class of MABWiser's shape: it learns from rewards by arm, and its methods are the same."""

import inspect

import numpy as np
import pytest

from belated.adapters.mabwiser import MAB


def test_it_learns_which_arm_is_better() -> None:
    """With rewards ten rounds late, and in another range."""
    mab = MAB(["red", "green"], seed=4, reward_range=(0, 5))
    random, waiting = np.random.default_rng(2), []
    for _ in range(400):
        arm = mab.predict()
        reward = float(random.random() < {"red": 0.2, "green": 0.7}[arm]) * 5
        waiting.append((arm, reward))
        if len(waiting) > 10:
            late, value = waiting.pop(0)
            mab.partial_fit([late], [value])
    assert mab.predict_expectations()["green"] > 0.8


def test_fit_learns_from_a_log_and_forgets_what_was_before() -> None:
    """Decisions of a log count with their shares in it: with exp3, exactly."""
    decisions, rewards = ["a", "a", "a", "b"], [1.0, 0.0, 1.0, 1.0]
    mab = MAB(["a", "b"], "exp3", seed=1).fit(decisions, rewards)
    assert mab.fit(decisions, rewards).predict_expectations() == mab.predict_expectations()
    rate = np.sqrt(np.log(2) / (2 * 5))  # before round 5
    weights = np.exp(-rate * np.array([1.0 / 0.75, 0.0]))
    expected = dict(zip("ab", weights / weights.sum(), strict=True))
    assert mab.predict_expectations() == pytest.approx(expected, rel=1e-12)


def test_contexts_are_rows_of_numbers() -> None:
    """One context gives an arm, several a list."""
    mab = MAB([1, 2, 3], "linear", seed=1, features=2)
    contexts = [[1.0, 0.0], [0.0, 1.0]]
    mab.fit([1, 2], [1, 0], contexts)
    assert mab.predict([[1.0, 0.5]]) in (1, 2, 3)
    assert len(mab.predict(contexts)) == 2
    assert [sum(each.values()) for each in mab.predict_expectations(contexts)] == [
        pytest.approx(1.0)
    ] * 2


def test_arms_are_added_and_removed() -> None:
    """And what does not fit is refused before anything is learned."""
    mab = MAB(["a", "b"], "exp3", seed=1)
    mab.add_arm("c")
    mab.remove_arm("a")
    assert mab.arms == ["b", "c"]
    before = mab.predict_expectations()
    for decisions, rewards, sentence in [
        (["b", "a"], [1, 1], "arm is 'a'"),
        (["b", "b"], [1, 2], "reward is 2"),
        (["b"], [1, 2], "1 decisions, 2 rewards"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            mab.partial_fit(decisions, rewards)
    assert mab.predict_expectations() == before
    with pytest.raises(ValueError, match="there already"):
        mab.add_arm("c")


@pytest.mark.check
def test_its_methods_take_what_those_of_mabwiser_take() -> None:
    """Names and order of the arguments, of every method that it has."""
    theirs = pytest.importorskip("mabwiser.mab").MAB
    for name in ("fit", "partial_fit", "predict", "predict_expectations", "remove_arm"):
        own = list(inspect.signature(getattr(MAB, name)).parameters)
        assert own == list(inspect.signature(getattr(theirs, name)).parameters)[: len(own)], name
