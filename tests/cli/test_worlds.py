"""belated worlds and belated compare --worlds, run as a user runs them."""

import csv
import json
from pathlib import Path

import pytest

from belated.cli.compare import split_learners
from belated.worlds import families, world
from tests.cli.commands import belated, complaint


def test_families_and_worlds_are_listed() -> None:
    """Every family with its set, and worlds by their names, as text and as JSON."""
    text = belated("worlds").stdout
    rows = json.loads(belated("worlds", "--json").stdout)
    assert [row["name"] for row in rows] == list(families())
    assert all(row["name"] in text for row in rows)
    (one,) = json.loads(belated("worlds", "seasons/17", "--json").stdout)
    assert one == {"name": "seasons/17", "set": "design", "line": world("seasons/17").line}
    assert "it must read seasons/17" in complaint("worlds", "seasons")


def test_learners_are_compared_on_worlds(tmp_path: Path) -> None:
    """A table of shares, one by family, and a row for each run."""
    table = tmp_path / "runs.csv"
    run = belated(
        *("compare", "--worlds", 2, "--seed", 7, "--family", "few-rounds", "--games", 2),
        *("--learners", "uniform,exp3", "--table", table),
    )
    assert run.returncode == 0, run.stderr
    assert "on 2 worlds, clipped to [-100, 150]" in run.stdout
    assert "100.0" in run.stdout
    assert "few-rounds" in run.stdout
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 2
    assert {row["learner"] for row in rows} == {"uniform", "exp3"}


def test_json_has_learners_families_and_worlds() -> None:
    """One object; the judge set is played only when asked for, with a word of warning."""
    run = belated(
        *("compare", "--worlds", 1, "--set", "judge", "--family", "few-rounds", "--games", 1),
        *("-l", "uniform", "--json"),
    )
    found = json.loads(run.stdout)
    assert found["learners"][0]["share"] == pytest.approx(100.0)
    assert found["families"] == [
        {"family": "few-rounds", "worlds": 1, "uniform": pytest.approx(100.0)}
    ]
    assert world(found["worlds"][0]["world"]).set == "judge"
    assert "judge set" in run.stderr


def test_bad_input_gets_one_line() -> None:
    """Options that do not go together, and families that are not there."""
    assert "give --worlds, too" in complaint("compare", "late-best", "--set", "judge")
    assert "--worlds is without SCENARIO" in complaint("compare", "late-best", "--worlds", 3)
    assert "did you mean 'drift'" in complaint("compare", "--worlds", 3, "--family", "drif")
    assert "judge set only" in complaint("compare", "--worlds", 3, "--family", "fading")


def test_learners_are_split_at_commas_but_not_within_options() -> None:
    """As text and repeated."""
    assert split_learners(["a,b", "c:x=1,y=2,d"]) == ["a", "b", "c:x=1,y=2", "d"]
