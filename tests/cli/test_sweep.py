"""belated sweep, run as a user runs it."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from belated.cli.sweep import sweep
from belated.sweep.grid import Grid
from belated.sweep.sweep_store import RunResult, SweepStore
from tests.cli.commands import complaint_in

GAME = ("late-best:rounds=60,arms=3", "--learner", "full-information", "--workers", "2")


def swept(*arguments: object) -> Result:
    """Run the command."""
    return CliRunner().invoke(sweep, [str(argument) for argument in arguments])


def test_a_sweep_shows_a_table_and_writes_every_run(tmp_path: Path) -> None:
    """A row for each scenario and learner in the terminal, a row for each run in the file."""
    store, table = tmp_path / "sweep.db", tmp_path / "runs.csv"
    command = (*GAME, "--set", "delay=5,50", "--seeds", "1:3,7", "--store", store, "--table", table)
    run = swept(*command, "--learner", "uniform")
    assert run.exit_code == 0, run.output
    assert "regret" in run.stdout
    assert run.stdout.count("late-best") == 4
    assert "16 runs, of which 0 were stored before." in run.stderr
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert len(rows) == 16
    assert [row["seed"] for row in rows[:4]] == ["1", "2", "3", "7"]
    assert [row["delay"] for row in rows] == ["5"] * 8 + ["50"] * 8

    again = swept(*command, "--learner", "uniform", "--json")
    answer = json.loads(again.stdout)
    counts = {"runs": 16, "before": 16, "failed": 0, "resubmitted": 0, "duplicates": 0}
    assert {name: answer[name] for name in counts} == counts
    assert [float(row["regret"]) for row in rows] == [row["regret"] for row in answer["table"]]


def test_failed_runs_are_named_and_end_with_exit_code_1(tmp_path: Path) -> None:
    """The rest is shown all the same; --retry-failed runs them again."""
    grid = Grid("late-best:rounds=60,arms=3", "full-information", range(1, 16))
    with SweepStore(tmp_path / "sweep.db") as store:
        for key in grid.keys()[:12]:
            store.put(key, RunResult(None, "the data has gone", 0.0))
    command = (*GAME, "--seeds", "1:15", "--store", tmp_path / "sweep.db")
    run = swept(*command)
    assert run.exit_code == 1
    named = [line for line in run.stderr.splitlines() if line.startswith("Failed: ")]
    assert named[0] == (
        "Failed: late-best arms=3 rounds=60, full-information, seed 1: the data has gone"
    )
    assert (len(named), named[-1]) == (11, "Failed: 2 more")
    assert "regret" in run.stdout
    assert swept(*command, "--retry-failed").exit_code == 0


def test_a_sweep_of_failures_only_has_no_table(tmp_path: Path) -> None:
    """Nothing to show is no reason to break."""
    grid = Grid("late-best:rounds=60,arms=3", "full-information", [1])
    with SweepStore(tmp_path / "sweep.db") as store:
        store.put(grid.keys()[0], RunResult(None, "the data has gone", 0.0))
    run = swept(*GAME, "--seeds", "1", "--store", tmp_path / "sweep.db")
    assert (run.exit_code, run.stdout) == (1, "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["late-bets", "-l", "concealed"], "'late-best'"),
        (["late-best", "-l", "conceled"], "'concealed'"),
        (["late-best", "-l", "concealed:speed=1"], "'speed'"),
        (["late-best", "-l", "concealed:variant=new"], "'new'"),
        (["late-best", "-l", "concealed", "--set", "speed=1"], "'speed'"),
        (["late-best", "-l", "concealed", "--set", "delay"], "name=value"),
        (["late-best", "-l", "concealed", "--set", "gap=7"], "7"),
        (["late-best:gap=0.1", "-l", "concealed", "--set", "gap=0.2"], "twice"),
        (["late-best", "-l", "concealed", "--set", "gap=0.2", "--set", "gap=0.3"], "twice"),
        (["late-best", "-l", "concealed", "--seeds", "5:1"], "'5:1'"),
        (["late-best", "-l", "concealed", "--seeds", "many"], "'many'"),
        (["late-best", "-l", "concealed", "--seeds", "1:"], "'1:'"),
        (["late-best", "-l", "concealed", "--seeds", "-3:-1"], "-3"),
        (["late-best", "-l", "concealed", "--seeds", "1,1"], "2 times"),
        (["late-best", "-l", "concealed", "--seeds", "1:1000000000000"], "1000000000000"),
        (["late-best", "-l", "concealed", "--workers", "0"], "workers is 0"),
        (["late-best", "-l", "concealed", "--table", "runs.xls"], ".xls"),
        (["late-best", "-l", "concealed", "--table", "nowhere/runs.csv"], "nowhere"),
        (["late-best", "-l", "concealed", "--workers", "1", "--scheduler", "x"], "--workers"),
        (["late-best", "-l", "concealed", "--scheduler", "nothing://x"], "'nothing://x'"),
    ],
)
def test_bad_input_gets_one_clear_line_before_anything_runs(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2, the value in the line, and no store made."""
    monkeypatch.chdir(tmp_path)
    assert told in complaint_in(swept(*arguments))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_store_gets_one_clear_line(tmp_path: Path) -> None:
    """Nothing of the user's is overwritten."""
    notes = tmp_path / "notes.txt"
    notes.write_text("mine\n" * 500)
    run = swept(*GAME, "--store", notes)
    assert run.exit_code == 2
    assert run.stderr == "Error: notes.txt is no store of a sweep; use another file\n"
    assert notes.read_text() == "mine\n" * 500


# Ctrl-C when 20 runs are stored, as a terminal sends it: to the workers as well.
PRESSED = """
import os, signal
from belated.cli.sweep import sweep
from belated.sweep.sweep_store import SweepStore
put, stored = SweepStore.put, []

def put_and_press(store, key, outcome):
    put(store, key, outcome)
    stored.append(key)
    if len(stored) == 20:
        os.killpg(os.getpgrp(), signal.SIGINT)

SweepStore.put = put_and_press
sweep()
"""


def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(tmp_path: Path) -> None:
    """Exit code 130 and one line, no traceback; then the rest is run."""
    store = tmp_path / "sweep.db"
    arguments = ("late-best:rounds=60,arms=3", "-l", "full-information", "--seeds", "1:60")
    arguments = (*arguments, "--store", str(store), "--json")
    pressed = [sys.executable, "-c", PRESSED, *arguments]
    command = [sys.executable, "-c", "from belated.cli.sweep import sweep; sweep()", *arguments]
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(pressed, start_new_session=True, **options) as process:
        told = process.communicate()
    assert process.returncode == 130, told
    assert told[0] == ""
    lines = [line for line in told[1].splitlines() if not line.startswith("Compiling")]
    assert len(lines) == 1, told[1]
    stored = int(lines[0].removeprefix("Interrupted: ").split()[0])
    assert lines[0].endswith(f"{stored} of 60 runs are stored; the same sweep goes on from there.")
    assert stored == 20
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert (answer["before"], answer["runs"], answer["duplicates"]) == (stored, 60, 0)


CLUSTER = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, protocol="tcp",
                      host="127.0.0.1", dashboard_address="127.0.0.1:0",
                      scheduler_kwargs={"dashboard": False}) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def test_a_cluster_gives_the_same_table(tmp_path: Path) -> None:
    """--scheduler sends the runs to a Dask cluster, here one worker in another process."""
    options = ("late-best:rounds=60,arms=3", "-l", "full-information", "--seeds", "1:4", "--json")
    cluster = subprocess.Popen(
        [sys.executable, "-c", CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with cluster:
        assert cluster.stdout is not None
        address = cluster.stdout.readline().strip()
        command = [sys.executable, "-m", "belated", "sweep", *options, "--scheduler", address]
        run = subprocess.run(
            [*command, "--store", str(tmp_path / "one.db")],
            capture_output=True, text=True, timeout=300, check=True,
        )  # fmt: skip
        cluster.communicate("")
    assert run.stdout == swept(*options, "--store", tmp_path / "two.db", "--workers", 1).stdout
