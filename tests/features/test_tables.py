"""Contexts that are all known beforehand become a table; bad ones are named with their place."""

import numpy as np
import pytest

from belated.features.tables import table_of


def test_numbers_are_as_they_are_and_text_is_one_hot() -> None:
    names, values, scaled = table_of(
        [
            {"age": 10, "device": "phone", "tags": [True]},
            {"age": 31.5, "device": "desk", "tags": [False]},
            {"age": -2, "device": "phone", "tags": []},
        ],
        "round",
    )
    assert names == ("age", "device=phone", "device=desk", "tags.0")
    assert values.tolist() == [[10, 1, 0, 1], [31.5, 0, 1, 0], [-2, 1, 0, 0.5]]
    assert scaled.tolist() == [True, False, False, True]


def test_what_is_absent_is_the_mean_or_counts_nowhere() -> None:
    """A name without any value is none; sequences have the names 0, 1, ..."""
    rows = [{"a": 1, "b": None}, {"c": "x"}, {"a": 4, "b": None, "c": None}]
    table = table_of(rows, "round")
    assert table.names == ("a", "c=x")
    assert table.values.tolist() == [[1.0, 0.0], [2.5, 1.0], [4.0, 0.0]]
    assert table_of([[3, "x"], [4, None]], "round").names == ("0", "1=x")
    assert table_of([{}, {}], "round").values.shape == (2, 0)


def test_what_has_text_somewhere_is_text() -> None:
    table = table_of([{"a": 1}, {"a": "one"}, {"a": True}], "round")
    assert table.names == ("a=1", "a=one", "a=True")
    assert (table.values == np.eye(3)).all()


def test_rare_values_count_nowhere() -> None:
    rows = [{"a": each} for each in ("x", "y", "z", "y", "z", "z")]
    assert table_of(rows, "row", most_values=2).names == ("a=z", "a=y")
    assert table_of(rows, "row", most_values=2).values[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"a": np.nan}, "round 2: 'a' is nan; it must be a finite number of at most 1e"),
        ({"a": 1e101}, "round 2: 'a' is 1e\\+101; it must be a finite number"),
        ({"a": object}, "round 2: 'a' is <class 'object'>; a feature must be a number"),
        (3, "round 2: context is 3; it must be a dict, a sequence or an array"),
    ],
)
def test_a_bad_context_is_named_with_its_place(second: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        table_of([{"a": 1}, second], "round")


def test_too_many_coordinates_name_the_feature_that_has_most() -> None:
    rows = [{"user": f"u{k}", "age": k} for k in range(1000)]
    with pytest.raises(ValueError, match="have 1001 coordinates, 1000 of them for 'user'; there"):
        table_of(rows, "round")
