"""belated compare --study: every learner on every scenario, from the command line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from belated.cli import main
from belated.environments.delays import PerArm
from belated.environments.environment import Environment
from belated.environments.losses import Bernoulli
from belated.simulation import study

FEW = ("uniform", "exp3", "hedge")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A study of three learners in two small games."""
    chosen = [each for each in study.entrants() if each.contender.name in FEW]
    games = [
        Environment(name, Bernoulli([0.2, 0.8]), PerArm((3, 0)), 100) for name in ("one", "another")
    ]
    monkeypatch.setattr(study, "entrants", lambda: chosen)
    monkeypatch.setattr(study, "games_of_the_study", lambda: games)


@pytest.mark.usefixtures("small")
def test_the_study_writes_a_table_and_figures(tmp_path: Path) -> None:
    """Standings in the terminal, every row in the table, a figure of experts and one of bandits."""
    table = tmp_path / "study.csv"
    parts = ["compare", "--study", "-r", "2", "--figures", str(tmp_path), "--table", str(table)]
    run = CliRunner().invoke(main, parts)
    assert run.exit_code == 0, run.output
    assert "hedge, guessing" in run.output
    lines = table.read_text().splitlines()
    assert len(lines) == 1 + 2 * len(study.entrants())
    for name in ("study-experts.svg", "study-bandits.svg"):
        assert (tmp_path / name).read_text().startswith("<?xml")


@pytest.mark.usefixtures("small")
def test_the_study_as_json() -> None:
    """Every row of the table."""
    run = CliRunner().invoke(main, ["compare", "--study", "-r", "1", "--json"])
    rows = json.loads(run.output)
    assert {row["scenario"] for row in rows} == {"one", "another"}
    assert len(rows) == 2 * len(study.entrants())


@pytest.mark.parametrize(
    "parts",
    [
        ("--study", "late-best"),
        ("--study", "--learner", "exp3"),
        ("--study", "--lower-bounds"),
        (),
        ("--study", "--table", "study.txt"),
    ],
)
def test_what_does_not_go_with_the_study_is_one_line(parts: tuple[str, ...]) -> None:
    """Exit code 2 and one sentence."""
    run = CliRunner().invoke(main, ["compare", *parts])
    assert run.exit_code == 2
    assert run.output.startswith("Error: ")
    assert run.output.count("\n") == 1
