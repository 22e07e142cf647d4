"""The short way for dicts of a shape seen before gives the bits and the errors of the long way."""

import enum
from typing import Any

import numpy as np
import pytest

from belated.features.encoder import Encoder, encoder_for
from belated.features.flattening import plain_copy
from belated.features.plans import MOST_PLANS

NAMES = tuple(f"name {k}" for k in range(12))
KINDS: dict[str, Any] = {
    name: ("number", "optional number", ["x", "y", 3], "number")[k % 4]
    for k, name in enumerate(NAMES)
}
ENCODERS = {
    "hashed": lambda: encoder_for(None, 2),  # few coordinates, so that many values share one
    "names": lambda: encoder_for(NAMES, 2),
    "kinds": lambda: encoder_for(KINDS, 2),
    "numbers": lambda: encoder_for(dict.fromkeys(NAMES, "number"), 2),
}


def outcome(encode: Any, context: Any) -> Any:
    """The bits of the coordinates, or the message of the error."""
    try:
        return encode(context).tobytes()
    except ValueError as error:
        return str(error)


def odd_value(random: np.random.Generator) -> Any:
    """A value of any kind, most of them allowed."""
    values = [
        float(random.normal()), int(random.integers(-5, 5)), True, None, "x", "y", 3, 3.0, "other",
        -0.0, 1e100, 1e99, -1.0000000000000002e100, np.float64(0.3), [1, "x"], {"a": 2.0},
        float("nan"), float("inf"), 10**400, 2**63,
    ]  # fmt: skip
    return values[random.integers(len(values))]


@pytest.mark.parametrize("name", ENCODERS)
def test_the_short_way_is_the_long_one(name: str) -> None:
    """Shapes come again with other values, so that plans are made and used; some are refused."""
    random = np.random.default_rng(5)
    encoder: Encoder = ENCODERS[name]()
    refused = 0
    for _ in range(60):
        names = random.permutation([*NAMES, "unknown"])[: random.integers(0, 6)].tolist()
        for _ in range(10):
            context = {each: odd_value(random) for each in names}
            expected = outcome(encoder.literal, context)
            assert outcome(encoder.encode, context) == expected
            assert outcome(encoder.encode, context) == expected
            if isinstance(expected, bytes):
                assert encoder.frozen(context)[1] == plain_copy(context)
            refused += isinstance(expected, str)
    assert 0 < refused < 600
    assert len(encoder._plans) <= MOST_PLANS


@pytest.mark.parametrize("name", ENCODERS)
def test_a_known_shape_takes_the_short_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With plain values nothing is looked at name by name; the copy is a new dict."""
    encoder: Encoder = ENCODERS[name]()
    context = {each: 3 if each in NAMES[2::4] else float(k) for k, each in enumerate(NAMES)}
    expected = encoder.literal(context)
    monkeypatch.setattr(encoder, "literal", None)
    found, copy = encoder.frozen(context)
    assert (found == expected).all()
    assert copy == context
    assert copy is not context
    assert len(encoder._plans) == 1


def test_names_that_only_equal_text_do_not_take_the_short_way() -> None:
    """A member of an enumeration may equal its text and be written otherwise."""

    class Name(str, enum.Enum):  # noqa: UP042, since a StrEnum is written as its text
        AGE = "age"

    encoder = encoder_for({"age": "number"}, 5)
    assert encoder.encode({"age": 3.0}).tolist() == [3.0]
    with pytest.raises(ValueError, match=r"the name 'Name\.AGE', which features does not declare"):
        encoder.encode({Name.AGE: 3.0})


def test_plans_are_bounded() -> None:
    """Names that are new each time take the long way once there are many plans."""
    encoder = encoder_for(None, 5)
    for k in range(3 * MOST_PLANS):
        context = {f"name {k}": 1.5, "text": "x"}
        assert (encoder.encode(context) == encoder.literal(context)).all()
    assert len(encoder._plans) == MOST_PLANS
