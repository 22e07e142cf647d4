"""The example project, found by a path entry: on the command line, in sweeps, and served."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import ROOT, belated
from tests.plugins.installing import EXAMPLE, install_example
from tests.service.server import serving

PLAY = """
import belated
bandit = belated.Bandit(["filter", "espresso"], learner="boltzmann", seed=3)
tickets = [bandit.ask() for _ in range(6)]
for ticket in tickets[:4]:
    bandit.tell(ticket, 0.25)
again = belated.from_json(bandit.to_json())
assert again.ask() == bandit.ask()
from belated.service.core.problems import checked_spec
spec = checked_spec({"kind": "bandit", "arms": ["a", "b"], "learner": "boltzmann"})
assert spec["options"] == {}

import json
from click.testing import CliRunner
from belated.cli import main
run = CliRunner().invoke(main, ["learners", "--json"])
(row,) = [row for row in json.loads(run.stdout) if row["name"] == "boltzmann"]
assert row["plugin of"] == "belated-coffee-bar 0.1.0"
played = ["compare", "coffee-bar:rounds=100", "-l", "boltzmann,uniform", "--repetitions", "2"]
run = CliRunner().invoke(main, played)
assert run.exit_code == 0 and "boltzmann" in run.stdout, run.output
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The place where the example project is installed."""
    return str(install_example(tmp_path_factory.mktemp("example")))


@pytest.mark.check
def test_a_sweep_makes_its_runs_in_other_processes(path: str, tmp_path: Path) -> None:
    """The workers look it up by its name, as this process does."""
    swept = belated(
        *("sweep", "coffee-bar:rounds=100", "-l", "boltzmann:rate=5", "--seeds", "1:2"),
        *("--workers", 2, "--json"),
        cwd=tmp_path,
        PYTHONPATH=path,
    )
    assert swept.returncode == 0, swept.stderr
    assert json.loads(swept.stdout)["failed"] == 0


def test_it_is_asked_told_saved_listed_and_compared(path: str) -> None:
    """By its name, in a process that has imported nothing of it."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLAY],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.check
def test_the_service_decides_with_it(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A started service; and where the plugin is gone, only its problem cannot be used."""
    database = f"sqlite:///{tmp_path / 'service.db'}"
    monkeypatch.setenv("PYTHONPATH", path)
    with serving(database) as server, server.client() as client:
        for name, learner in (("coffee", "boltzmann"), ("tea", "exp3")):
            made = {"name": name, "arms": ["a", "b"], "learner": learner}
            assert client.post("/v1/problems", json=made).status_code == 201
        ticket = client.post("/v1/problems/coffee/ask").json()["ticket"]
        told = client.post(f"/v1/tickets/{ticket}/tell", json={"loss": 0.5})
        assert told.json()["counted"] is True
    monkeypatch.delenv("PYTHONPATH")
    with serving(database) as server, server.client() as client:
        assert client.post("/v1/problems/tea/ask").status_code == 200
        refused = client.post("/v1/problems/coffee/ask")
        assert refused.status_code >= 400
        assert "boltzmann" in refused.text


@pytest.mark.check
def test_its_own_test_passes(path: str) -> None:
    """The test of the project calls check_learner, as its README says."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", EXAMPLE / "tests"],
        cwd=path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.compiled
def test_its_code_is_kept_and_found_again(path: str, tmp_path: Path) -> None:
    """Another process finds it, with all its parts; an edit of the plugin compiles it again."""
    environment = {"PYTHONPATH": path, "BELATED_CACHE_DIR": str(tmp_path), "BELATED_COMPILE": ""}
    environment["BELATED_COMPILE"] = "background"
    warmed = belated("warmup", "boltzmann", **environment)
    assert warmed.returncode == 0, warmed.stderr
    kept = sorted(tmp_path.rglob("boltzmann-*.code"))
    assert len(kept) >= 3
    again = belated("warmup", "boltzmann", **environment)
    assert again.returncode == 0
    assert sorted(tmp_path.rglob("boltzmann-*.code")) == kept
    assert ROOT.exists()
