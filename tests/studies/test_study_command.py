"""python -m studies scenarios: every learner on every scenario, from the command line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from belated.environments.changing_losses import RotatingLeaders
from belated.environments.delays import PerArm
from belated.environments.environment import Environment
from belated.environments.losses import Bernoulli
from studies import study
from studies.__main__ import main
from tests.cli.commands import complaint_in

FEW = ("uniform", "exp3", "hedge")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A study of three learners in two small games."""
    chosen = [each for each in study.study_learners() if each.contender.name in FEW]
    games = [
        Environment("one", Bernoulli([0.2, 0.8]), PerArm((3, 0)), 100),
        Environment("another", RotatingLeaders(2, 10), PerArm((3, 0)), 100),
    ]
    monkeypatch.setattr(study, "study_learners", lambda: chosen)
    monkeypatch.setattr(study, "games_of_the_study", lambda: games)


@pytest.mark.usefixtures("small")
def test_the_study_writes_a_table_and_figures(tmp_path: Path) -> None:
    """Standings in the terminal, every row in the table, a figure of experts and one of bandits."""
    table = tmp_path / "study.csv"
    parts = ["scenarios", "-r", "2", "--figures", str(tmp_path), "--table", str(table)]
    run = CliRunner().invoke(main, parts)
    assert run.exit_code == 0, run.output
    assert "hedge, guessing" in run.output
    assert "as chance is as good as any arm: another." in run.output
    lines = table.read_text().splitlines()
    assert len(lines) == 1 + 2 * len(study.study_learners())
    for name in ("study-experts.svg", "study-bandits.svg"):
        picture = (tmp_path / name).read_text()
        assert picture.startswith("<?xml")
        assert "<!-- another * -->" in picture
        assert "all arms are equal in the end" in " ".join(picture.split())
    kept = CliRunner().invoke(main, ["scenarios", "--kept", str(table), "--figures", str(tmp_path)])
    assert kept.exit_code == 0, kept.output
    assert (tmp_path / "study-experts.svg").exists()
    assert kept.stdout == run.stdout


@pytest.mark.usefixtures("small")
def test_the_study_as_json() -> None:
    """Every row of the table."""
    run = CliRunner().invoke(main, ["scenarios", "-r", "1", "--json"])
    rows = json.loads(run.stdout)
    assert {row["scenario"] for row in rows} == {"one", "another"}
    assert len(rows) == 2 * len(study.study_learners())


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (("late-best",), "group is 'late-best'; it must be one of tuned-on, held-out"),
        (("--table", "study.txt"), "study.txt ends in '.txt'"),
    ],
)
def test_bad_input_is_one_line(parts: tuple[str, ...], sentence: str) -> None:
    """It says what is wrong."""
    assert sentence in complaint_in(CliRunner().invoke(main, ["scenarios", *parts]))
