"""Contexts become the same numbers in every process and every release; bad ones are refused."""

from typing import Any

import numpy as np
import pytest

from belated.features.encoder import UNKNOWN, encoder_for
from belated.features.flattening import (
    MOST_LETTERS,
    MOST_NAMES,
    MOST_NESTED,
    flattened,
    plain_copy,
)
from belated.features.hashing import hashed_place, kept_place, place_of

CONTEXT = {
    "age": 31,
    "device": "phone",
    "member": True,
    "spent": [1.5, -2.0],
    "user": {"country": "é", "score": np.float64(0.25)},
    "nothing": None,
}
GOLDEN = {1: -1.0, 2: -1.25, 4: 1.5, 6: 2.0, 16: -1.0, 27: 31.0}  # of CONTEXT, 32 coordinates


def test_flattening_names_every_value() -> None:
    assert flattened(CONTEXT) == [
        ("age", 31),
        ("device", "phone"),
        ("member", True),
        ("spent.0", 1.5),
        ("spent.1", -2.0),
        ("user.country", "é"),
        ("user.score", 0.25),
        ("nothing", None),
    ]
    assert flattened(np.array([1.0, 2.0])) == [("0", 1.0), ("1", 2.0)]


def test_hashing_gives_golden_numbers() -> None:
    """BLAKE2b of the name, eight bytes, lowest byte first: these numbers must never change."""
    golden = {"age": (27, 1.0), "device=phone": (1, -1.0), "é": (11, 1.0), "": (4, -1.0)}
    assert {name: place_of(name, 5) for name in golden} == golden


def test_hashed_contexts_give_golden_numbers() -> None:
    expected = np.zeros(32)
    named = {"age": 31.0, "device=phone": 1.0, "member": 1.0, "spent.0": 1.5, "spent.1": -2.0}
    for name, number in (named | {"user.country=é": 1.0, "user.score": 0.25}).items():
        place, sign = place_of(name, 5)
        expected[place] += sign * number
    found = encoder_for(None, 5).encode(CONTEXT)
    assert found.tolist() == expected.tolist()
    assert {k: v for k, v in enumerate(found.tolist()) if v} == GOLDEN


def test_declared_features_have_their_own_coordinates() -> None:
    kinds = {"age": "number", "pet": ["cat", "dog"], "income": "optional number"}
    encoder = encoder_for(kinds, 5)
    assert encoder.width == 5
    assert encoder.scaled.tolist() == [True, False, False, True, False]
    assert encoder.encode({"age": 3, "pet": "dog"}).tolist() == [3.0, 0.0, 1.0, UNKNOWN, 1.0]
    assert encoder.encode([3, None, 9]).tolist() == [3.0, 0.0, 0.0, 9.0, 0.0]
    assert encoder.nothing().tolist() == [UNKNOWN] * 5


def test_names_alone_take_numbers_and_text() -> None:
    encoder = encoder_for(["age", "device"], 3)
    place, sign = place_of("device=phone", 3)
    expected = [31.0, UNKNOWN, *[0.0] * 8]
    expected[2 + place] = sign
    assert encoder.encode({"age": 31, "device": "phone"}).tolist() == expected
    assert encoder.scaled.tolist() == [True, True, *[False] * 8]


def nested(depth: int) -> Any:
    return {"a": nested(depth - 1)} if depth else 1.0


@pytest.mark.parametrize(
    ("features", "context", "said"),
    [
        (["age"], {"aeg": 3}, "'aeg', which features does not declare"),
        (["age"], {"age": float("nan")}, "'age' is nan; it must be a finite number"),
        (None, {"age": float("inf")}, "'age' is inf; it must be a finite number"),
        (None, {"age": 10**400}, "it must be a finite number"),
        ({"age": "number"}, {"age": "old"}, "'age' is 'old'; it must be a number"),
        ({"pet": ["cat", "dog"]}, {"pet": "cow"}, "'pet' is 'cow'; it must be one of 'cat', 'dog'"),
        (3, [1.0, 2.0], "context has 2 values; features declares 3"),
        (None, {str(k): k for k in range(10_001)}, "context has 10001 names; there may be 1000"),
        (None, {"a": list(range(10_001))}, "context has more than 1000 names"),
        (None, nested(50), "nested more than 10 deep"),
        (None, {"a" * 201: 1.0}, "of 201 letters; a name, with those around it, may have 200"),
        (None, {"a" * 400_000: [0.0] * 990}, "of 400000 letters; a name, with those around it"),
        (None, {"a" * 150: {"b" * 50: 1.0}}, "of 201 letters"),
        (None, "text", "context is 'text'; it must be a dict"),
        (None, {"a": object}, "a feature must be a number"),
        (None, np.zeros((2, 2)), "an array of one dimension"),
    ],
)
def test_bad_contexts_are_refused_in_one_sentence(features: Any, context: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        encoder_for(features, 5).encode(context)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "features",
    [
        -1,
        "age",
        ["a", "a"],
        [1],
        {"a": "text"},
        {"a": []},
        {"a": ["x", "x"]},
        {1: "number"},
        ["a" * 201],
        {"a" * 201: "number"},
    ],
)
def test_bad_declarations_are_refused(features: Any) -> None:
    with pytest.raises(ValueError, match="feature"):
        encoder_for(features, 5)


def test_the_limits_are_allowed() -> None:
    encoder_for(None, 5).encode({str(k): k for k in range(MOST_NAMES)})
    encoder_for(None, 5).encode(nested(MOST_NESTED))
    encoder_for(None, 5).encode({"a" * MOST_LETTERS: 1.0})


def test_a_long_text_is_hashed_and_not_kept() -> None:
    """Else anybody who may ask could fill the memory."""
    encoder, text = encoder_for(["page"], 3), "x" * 100_000
    kept = kept_place.cache_info().currsize
    place, sign = place_of(f"page={text}", 3)
    assert encoder.encode({"page": text})[1 + place] == sign
    assert (place, sign) == hashed_place(f"page={text}", 3)
    assert kept_place.cache_info().currsize == kept


def test_a_plain_copy_is_what_json_has() -> None:
    copy = plain_copy({"a": (np.int64(1), 2.0), 3: {"b": np.array([1.0])}})
    assert copy == {"a": [1, 2.0], "3": {"b": [1.0]}}
