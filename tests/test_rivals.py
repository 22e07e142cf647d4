"""docs/rivals.md names every learner but the paper's own, and none that is not there."""

import re
from pathlib import Path

from belated.learners.contract import Facts, PaperLearner
from belated.learners.registry import learner_named, registered
from belated.types import Origin

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


def test_every_learner_is_in_the_table() -> None:
    """With the file it is in; and "from memory" where it says so itself."""
    assert set(ROWS) == set(RIVALS)
    for name, kind in RIVALS.items():
        files = {names_in(row[FILE])[0] for row in rows() if name in names_in(row[HERE])}
        assert files == {kind.__module__.split(".")[-1] + ".py"}, name
        own = kind.source.split("; base:")[0]
        assert ("from memory" in ROWS[name][CONSTANTS]) is ("memory" in own), name


def test_constants_from_memory_are_marked() -> None:
    """By one field of the learner: in the table, in the guarantee as shown, and by no bound."""
    facts = Facts(arms=3, rounds=50, most_missing=4, total_delay=70, best_loss=8.0)
    for name, kind in RIVALS.items():
        remembered = kind.origin is Origin.MEMORY
        assert kind.stated_guarantee().endswith("(constants from memory)") is remembered, name
        cell = ROWS[name][CONSTANTS]
        assert ("ours" in cell.split(",")[0]) is (kind.origin is Origin.OURS), name
        if remembered:
            assert "from memory" in cell, name
            assert kind(arms=3).bound(facts) is None, name
    assert learner_named("bold-thompson").origin is Origin.MEMORY  # so is its base's bound f


def test_a_row_says_what_is_there_or_why_it_is_not() -> None:
    """A learner with a file and the origin of its constants, or a dash and a reason."""
    for row in rows():
        assert row[ALGORITHM], row
        assert row[PURPOSE], row
        if row[HERE] == "-":
            assert row[WHY_NOT], row
            assert not row[FILE], row
            assert not row[CONSTANTS], row
        else:
            assert names_in(row[HERE]), row
            assert len(names_in(row[FILE])) == 1, row
            assert any(word in row[CONSTANTS] for word in WORDS), row


def test_learners_named_elsewhere_in_the_text_are_there() -> None:
    """Also those of the reasons why others are not, and those of the examples."""
    reasons = {name for row in rows() for name in names_in(row[WHY_NOT])}
    examples = {each.split(":")[0] for each in re.findall(r"--learner (\S+)", TEXT)}
    assert reasons <= set(ROWS)
    assert all(learner_named(name) for name in examples)
