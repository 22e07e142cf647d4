"""Contexts as numbers, models that have not seen their rows, and parameters by their grid."""

import numpy as np
import pytest

from belated.evaluation.encoding import encoded
from belated.evaluation.estimators import Chosen, Inputs
from belated.evaluation.models import cross_fitted
from belated.evaluation.tuning import tuned_parameter


def test_contexts_become_numbers() -> None:
    """Numbers are scaled, text is one-hot, lists and objects are spread out, the last is 1."""
    rows = encoded(
        [
            {"age": 10, "device": "phone", "user": {"new": True}, "tags": [1.0, 2.0]},
            {"age": 30, "device": "desk", "user": {"new": False}, "tags": [1.0, 4.0]},
        ]
    )
    # age, two devices, user.new and tags.1 (tags.0 never changes), each over the root of 5
    assert rows[:, :-1] * np.sqrt(5.0) == pytest.approx(
        np.array([[-1, 1, 0, 1, -1], [1, 0, 1, -1, 1]])
    )
    assert rows[:, -1].tolist() == [1.0, 1.0]
    assert encoded([{}, {}]).tolist() == [[1.0], [1.0]]
    with pytest.raises(ValueError, match="row 1: 'x' is nan; it must be a finite"):
        encoded([{"x": float("nan")}, {"x": 1.0}])


def test_the_ridge_by_hand() -> None:
    """One coordinate, the bias: the shrunk mean of the other half, by the formula."""
    x = np.ones((4, 1))
    chosen = np.array([0, 0, 0, 0])
    outcome = np.array([1.0, 0.0, 1.0, 1.0])
    found = cross_fitted(x, chosen, 2, outcome, np.ones(4))
    odd = (0.5 + 1.0) / 3.0  # rows 2 and 4 have rewards 0 and 1
    even = (0.5 + 2.0) / 3.0
    assert found[0] == pytest.approx([odd + (1.0 - 2.0 * odd) / 3.0, odd])
    assert found[1] == pytest.approx([even + (2.0 - 2.0 * even) / 3.0, even])


def test_a_model_has_not_seen_the_row_it_speaks_about() -> None:
    """Changing a row's outcome changes nothing that is said about its own half."""
    random = np.random.default_rng(0)
    x, chosen = random.normal(size=(40, 3)), random.integers(0, 2, 40)
    outcome = random.random(40)
    before = cross_fitted(x, chosen, 2, outcome, np.ones(40))
    outcome[6] = 1.0 - outcome[6]
    after = cross_fitted(x, chosen, 2, outcome, np.ones(40))
    assert (before[::2] == after[::2]).all()
    assert (before[1::2] != after[1::2]).any()


def test_rows_that_were_not_told_teach_nothing() -> None:
    """Their weight is 0."""
    x, chosen = np.ones((6, 1)), np.zeros(6, dtype=np.int64)
    weights = np.array([1.0, 1.0, 0.0, 0.0, 1.0, 1.0])
    one = cross_fitted(x, chosen, 1, np.array([1.0, 0, 0, 0, 1, 0]), weights)
    two = cross_fitted(x, chosen, 1, np.array([1.0, 0, 1, 1, 1, 0]), weights)
    assert (one == two).all()


def test_a_parameter_is_the_users_or_the_least_error() -> None:
    """With few huge weights of a good model it cuts them; without any it keeps all."""
    random = np.random.default_rng(1)
    weights = np.where(random.random(2000) < 0.01, 60.0, 0.5)
    outcome = (random.random(2000) < 0.5).astype(np.float64)
    ones = np.ones(2000)
    good = Inputs(weights, ones, outcome, np.full(2000, 0.5), np.full(2000, 0.5))
    assert tuned_parameter(Chosen("switch-dr", 7.0), good, ones) == 7.0
    assert tuned_parameter(Chosen("switch-dr"), good, ones) <= 60.0
    bad = Inputs(np.full(2000, 2.0), ones, outcome, np.zeros(2000), np.zeros(2000))
    assert tuned_parameter(Chosen("switch-dr"), bad, ones) == 2.0
    assert tuned_parameter(Chosen("snips"), bad, ones) == np.inf
