"""docs/rivals.md names every learner but the paper's own, and none that is not there."""

import re
from pathlib import Path

import pytest

from belated.learners.contract import PaperLearner
from belated.learners.registry import learner_named, registered

TEXT = (Path(__file__).parents[1] / "docs" / "rivals.md").read_text(encoding="utf-8")
ALGORITHM, PURPOSE, HERE, FILE, CONSTANTS, WHY_NOT = range(6)
WORDS = ("read", "derived", "from memory", "ours")
RIVALS = {name: kind for name, kind in registered().items() if not issubclass(kind, PaperLearner)}


def rows() -> list[list[str]]:
    """The rows of both tables of algorithms, without their heads."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in TEXT.splitlines()]
    return [row for row in cells if len(row) == 6 and row[0] != "algorithm" and row[0][:3] != "---"]


def names_in(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


ROWS = {name: row for row in rows() for name in names_in(row[HERE])}


@pytest.mark.parametrize("name", RIVALS)
def test_every_learner_is_in_the_table(name: str) -> None:
    """With the file it is in; and "from memory" where it says so itself."""
    assert name in ROWS
    files = {names_in(row[FILE])[0] for row in rows() if name in names_in(row[HERE])}
    assert files == {RIVALS[name].__module__.split(".")[-1] + ".py"}
    own = RIVALS[name].source.split("; base:")[0]
    assert ("from memory" in ROWS[name][CONSTANTS]) is ("memory" in own)


@pytest.mark.parametrize("name", ROWS)
def test_every_learner_in_the_table_is_registered(name: str) -> None:
    assert name in RIVALS


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[ALGORITHM])
def test_a_row_says_what_is_there_or_why_it_is_not(row: list[str]) -> None:
    """A learner with a file and the origin of its constants, or a dash and a reason."""
    assert row[ALGORITHM]
    assert row[PURPOSE]
    if row[HERE] == "-":
        assert row[WHY_NOT]
        assert not row[FILE]
        assert not row[CONSTANTS]
    else:
        assert names_in(row[HERE])
        assert len(names_in(row[FILE])) == 1
        assert any(word in row[CONSTANTS] for word in WORDS)


def test_learners_named_elsewhere_in_the_text_are_there() -> None:
    """Also those of the reasons why others are not, and those of the examples."""
    reasons = {name for row in rows() for name in names_in(row[WHY_NOT])}
    examples = {each.split(":")[0] for each in re.findall(r"--learner (\S+)", TEXT)}
    assert reasons <= set(ROWS)
    assert all(learner_named(name) for name in examples)
