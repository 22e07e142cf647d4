"""python -m studies published, run as a user runs it."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from studies.__main__ import main
from studies.experiments import Experiment
from studies.published import ExperimentResult, played
from tests.cli.commands import complaint_in, run_module

SHORT = ("heavy-tails:rounds=500", "constrained-adversary:rounds=500")


def test_named_experiments_are_shown_drawn_and_written(tmp_path: Path) -> None:
    """What was published stands beside what is found, with a figure for each experiment."""
    run = run_module(
        "studies", "published", *SHORT, "-r", 1, "--figures", "pictures", "--table", "found.csv",
        cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    for word in ("heavy-tails", "PatientBandits", "sublinear", "Tsallis-INF", "logarithmic"):
        assert word in run.stdout
    names = ["published-constrained-adversary.svg", "published-heavy-tails.svg"]
    assert sorted(path.name for path in (tmp_path / "pictures").iterdir()) == names
    assert "python -m studies published" in (tmp_path / "pictures" / names[0]).read_text()
    with (tmp_path / "found.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["experiment"] for row in rows].count("heavy-tails") == 4
    assert len(rows) == 7


def test_published_for_machines() -> None:
    """--json is one JSON list and nothing else."""
    rows = json.loads(run_module("studies", "published", SHORT[0], "-r", 1, "--json").stdout)
    assert [row["published"] for row in rows] == ["linear", "", "sublinear", ""]
    assert all(row["rounds"] == 500 and row["repetitions"] == 5 for row in rows)


def test_an_interrupt_keeps_the_experiments_that_are_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first is shown, the second is not, and the exit code is 130."""

    def interrupted(experiment: Experiment, *rest: Any) -> ExperimentResult:
        if experiment.name == "constrained-adversary":
            raise KeyboardInterrupt
        return played(experiment, *rest)

    monkeypatch.setattr("studies.published.played", interrupted)
    run = CliRunner().invoke(main, ["published", *SHORT, "-r", "1"])
    assert run.exit_code == 130
    assert "PatientBandits" in run.stdout
    assert "Tsallis" not in run.stdout
    assert "1 of 2 experiments are complete" in run.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["late-best"], "experiment is 'late-best'"),
        (["heavy-tails:arms=3"], "no option 'arms'"),
        (["--table", "found.xlsx"], "must end in .csv"),
        (["--figures", "pyproject.toml"], "is a file"),
        (["-r", "0"], "repetitions is 0"),
    ],
)
def test_bad_input_gets_one_line(arguments: list[str], said: str) -> None:
    """The value and the rule, exit code 2, before anything is played."""
    assert said in complaint_in(CliRunner().invoke(main, ["published", *arguments]))
