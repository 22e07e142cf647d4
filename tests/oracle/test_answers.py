"""The oracle's answers against the worked cases beyond the paper."""

import json
from pathlib import Path
from typing import Any

import pytest
from mpmath import mp

from .answers import answer
from .certified_trust import OtherReading

CASES = sorted((Path(__file__).parents[1] / "cases" / "beyond").glob("*.json"))
EXACT = {"trusted", "skipped"}


def flat(x: Any) -> list[Any]:
    return [z for y in x for z in flat(y)] if isinstance(x, list) else [x]


def agree(found: Any, expected: Any, tolerance: float = 1e-12) -> bool:
    """|x - y| <= tolerance max(1, |y|) everywhere; None and truth values exactly."""
    pairs = list(zip(flat(found), flat(expected), strict=True))
    return all(
        x is y
        if x is None or y is None or isinstance(y, bool)
        else abs(x - y) <= tolerance * max(1, abs(y))
        for x, y in pairs
    )


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_worked_case(path: Path) -> None:
    record = json.loads(path.read_text())
    found, expected = answer(record["case"]), record["answer"]
    assert found.keys() == expected.keys()
    for key, array in expected.items():
        assert found[key] == array if key in EXACT else agree(found[key], array), key


@pytest.mark.parametrize(
    "path", [p for p in CASES if p.stem.startswith("t4")], ids=lambda p: p.stem
)
def test_the_other_reading_of_certified_trust(path: Path) -> None:
    """Convention 29."""
    record = json.loads(path.read_text())
    with mp.workdps(50):
        rows = list(OtherReading(record["case"]).replay(record["case"]["arms"]))
    for key, array in record["other_reading"].items():
        assert agree([row[key] for row in rows], array), key


def test_there_are_twelve() -> None:
    assert len(CASES) == 12
