"""belated compare and belated scenarios, run as a user runs them."""

import csv
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from belated.cli.learners import COMMON
from belated.environments.scenarios import scenarios
from tests.cli.commands import belated, complaint


def own_data(path: Path, rounds: int = 60) -> Path:
    """A user's file: two arms, one late."""
    random = np.random.default_rng(1)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["round", "arm", "loss", "delay"])
        for t in range(1, rounds + 1):
            writer.writerow([t, "slow & good", random.random() * 0.5, 7])
            writer.writerow([t, "quick <bad>", random.random(), ""])
    return path


def test_scenarios_are_listed_with_what_they_show() -> None:
    """Every one, as text and as JSON, with its options."""
    text = belated("scenarios").stdout
    rows = json.loads(belated("scenarios", "--json").stdout)
    assert [row["name"] for row in rows] == [each.name for each in scenarios()]
    for row in rows:
        assert row["name"] in text
        assert row["shows"].split()[0] in text
        assert "rounds" in row["options"] or row["name"] == "late-silence"


def test_losses_of_a_file_in_another_range(tmp_path: Path) -> None:
    """The heading says the range, and regrets are in its units."""
    data = own_data(tmp_path / "mine.csv")
    run = ["compare", data, "-r", 1, "-l", "uniform", "--json"]
    (row,) = json.loads(belated(*run).stdout)
    (wide,) = json.loads(belated(*run, "--loss-range", -1, 3).stdout)
    assert wide["regret"] == pytest.approx(row["regret"])  # the losses are the same numbers
    text = belated(*run[:-1], "--loss-range", -1, 3).stdout
    assert "seed 1, losses in [-1, 3]" in text
    assert "it must be in [0.5, 1]" in complaint(*run, "--loss-range", 0.5, 1)
    assert "only files are given one" in complaint("compare", "gains", "--loss-range", 0, 1)
    assert "the lower one first" in complaint(*run, "--loss-range", 1, 0)


def test_feature_columns_of_a_file(tmp_path: Path) -> None:
    """They are the contexts of its rounds; scenarios have their own, and worlds take none."""
    data = tmp_path / "mine.csv"
    rows = (f"{t},{arm},0.5,1,{t % 3},{t % 2}x" for t in range(1, 30) for arm in "ab")
    data.write_text("\n".join(["round,arm,loss,delay,size,kind", *rows]), encoding="utf-8")
    run = ["compare", data, "-r", 1, "-l", "linear,uniform"]
    assert "linear" in belated(*run, "--features", "size, kind").stdout
    assert "best linear policy" not in " ".join(belated(*run).stdout.split())
    assert "only files are given them" in complaint("compare", "gains", "--features", "size")
    assert "there must be round, arm, sise, loss or reward" in complaint(*run, "--features", "sise")
    assert "--worlds is without" in complaint("compare", "--worlds", 1, "--features", "size")


def test_compare_prints_a_table_and_writes_everything_asked_for(tmp_path: Path) -> None:
    """Two scenarios, one of them the user's own; report, figures and the table of all runs."""
    data = own_data(tmp_path / "mine.csv")
    run = belated(
        "compare", "block-constant:rounds=200", data, "-r", 3, "-l", "concealed", "-l", "uniform",
        "--report", "r.html", "--figures", "pictures", "--table", "runs.parquet", cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    for word in ("block-constant", "mine", "concealed", "uniform", "regret"):
        assert word in run.stdout
    page = (tmp_path / "r.html").read_text()
    assert "belated compare block-constant:rounds=200" in page
    assert "slow &amp; good" in page
    assert "quick <bad>" not in page
    assert list((tmp_path / "pictures").glob("*.png"))
    assert list((tmp_path / "pictures").glob("*.svg"))
    rows = parquet.read_table(tmp_path / "runs.parquet").to_pylist()
    assert len(rows) == 2 * 3 * 2
    assert {row["scenario"] for row in rows} == {"block-constant:rounds=200", "mine"}


def test_compare_for_machines() -> None:
    """--json is one JSON list on standard output and nothing else."""
    run = belated("compare", "block-constant", "-r", 2, "--json")
    rows = json.loads(run.stdout)
    assert [row["learner"] for row in rows] == list(COMMON)
    assert all(row["repetitions"] == 2 for row in rows)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "scenario is 'nowhere'"),
        (["late-best:delay=soon"], "delay is 'soon'"),
        (["late-best:wait=3"], "no option 'wait'"),
        (["nowhere.csv"], "nowhere.csv cannot be read"),
        (["late-best", "-l", "exp9"], "learner is 'exp9'"),
        (["late-best", "-l", "concealed:variant=best"], "variant is 'best'"),
        (["late-best", "-r", "0"], "repetitions is 0"),
        (["late-best", "--seed", "-1"], "seed is -1"),
        (["late-best", "--workers", "0"], "workers is 0"),
        (["late-best", "--table", "runs.xlsx"], "must end in .csv"),
        (["late-best", "--report", "no/such/folder/r.html"], "does not exist"),
        (["late-best", "--report", "r.pdf"], "must end in .html"),
        (["late-best", "--figures", "pyproject.toml"], "is a file"),
        (["late-best", "--json", "--lower-bounds"], "leave out --json"),
        (["pyproject.toml"], "must end in .csv"),
        (["late-best:rounds=50", "-l", "full-information:prior=0.5"], "prior is 0.5"),
    ],
)
def test_bad_input_gets_one_line(arguments: list[str], said: str) -> None:
    """The value and the rule, exit code 2, before anything is played."""
    assert said in complaint("compare", *arguments)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "empty|no rows|column"),
        ("round,arm,loss\n1,a,0.5\n", "delay"),
        ("round,arm,loss,delay\n1,a,1.5,0\n", r"1\.5"),
        ("round,arm,loss,delay\n1,a,0.5,-3\n", "-3"),
        ("round,arm,loss,delay\n1,a,0.5,0\n1,b,0.5,0\n2,a,0.5,0\n", "round 2"),
        ("round,arm,loss,delay\n1,a,0.5,0\n3,a,0.5,0\n", "round"),
    ],
)
def test_bad_files_get_one_line(content: str, said: str, tmp_path: Path) -> None:
    """Holes, wrong columns and wrong values, each named."""
    path = tmp_path / "mine.csv"
    path.write_text(content)
    line = complaint("compare", path)
    assert "mine.csv" in line
    assert re.search(said, line), line


@pytest.mark.check
def test_bounds_that_are_only_stated_are_marked() -> None:
    """A dagger in the terminal; True, False or nothing with a reason for machines."""
    run = belated("compare", "block-constant", "-r", 2, "--lower-bounds")
    assert "†" in run.stdout
    assert "not proven" in run.stdout
    assert "Lower bound for bandits with a constant delay of 19: order" in run.stdout
    rows = {r["learner"]: r for r in json.loads(
        belated("compare", "block-constant", "-r", 2, "--json").stdout
    )}  # fmt: skip
    assert rows["concealed"]["bound applies"] is False
    assert "fails in general" in rows["concealed"]["why"]
    assert rows["uniform"]["bound applies"] is None


def test_what_cannot_be_written_loses_nothing_else(tmp_path: Path) -> None:
    """One bad target is named, exit code 2, and the others are there."""
    (tmp_path / "runs.csv.part").mkdir()
    run = belated(
        "compare", "block-constant", "-r", 1, "--table", "runs.csv", "--report", "r.html",
        cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 2
    assert "runs.csv cannot be written" in run.stderr
    assert "Traceback" not in run.stderr
    assert (tmp_path / "r.html").exists()


# The command as users have it, but that it says when its second repetition has begun.
TELLING = """
import contextlib, sys
from belated.cli import main
import belated.cli.play_all

@contextlib.contextmanager
def progress_of(title):
    def tell(done, total):
        if done * 100_000 > total:
            print("one is complete", file=sys.stderr, flush=True)
    yield tell

belated.cli.play_all.progress_of = progress_of
main()
"""


def interrupted(folder: Path) -> tuple[int, str, str]:
    """A comparison without end that gets a real Ctrl-C when some of it is complete."""
    command = [sys.executable, "-c", TELLING, "compare", "late-best:rounds=200", "-l", "uniform"]
    command += ["-l", "concealed", "-r", "100000", "--workers", "1", "--table", "runs.csv"]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    with ended_after(600.0, process):
        said = ""
        while line := process.stderr.readline():
            said += line
            if line == "one is complete\n":
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    return process.returncode, out, said + err


@contextmanager
def ended_after(seconds: float, process: "subprocess.Popen[str]") -> Iterator[None]:
    """Nothing hangs for ever: a process that goes on for so long is killed."""
    alarm = threading.Timer(seconds, process.kill)
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()
        process.kill()


def test_control_c_keeps_what_is_complete(tmp_path: Path) -> None:
    """A real interrupt of a real process: exit code 130, and the table of what was complete."""
    code, out, err = interrupted(tmp_path)
    assert code == 130, err
    assert "Traceback" not in err
    assert "Interrupted" in err
    assert "concealed" in out
    with (tmp_path / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert len(rows) % 2 == 0
