"""python -m benchmarks, run as a user runs it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from benchmarks import catalogue, measure
from benchmarks.__main__ import bench
from benchmarks.machine import THREADS
from benchmarks.measure import Effort, Measure, at_least, at_most
from benchmarks.peers import PEERS
from benchmarks.timing import Spread
from tests.cli.commands import complaint_in


def run(*arguments: object) -> Result:
    """The command with these arguments; the threads it sets are set back afterwards."""
    runner = CliRunner(env=dict.fromkeys(THREADS, "1"))
    return runner.invoke(bench, [str(argument) for argument in arguments])


def elsewhere(before: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """The command in a process of its own, after some other code."""
    code = f"import sys; {before}; from benchmarks.__main__ import bench; bench({list(arguments)})"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def met(effort: Effort) -> Iterator[measure.Result]:
    """A goal that is met."""
    ours, rival = Spread(2e-6, 1e-6, 3e-6), Spread(4e-3, 4e-3, 4e-3)
    value = Spread(2000.0, 1900.0, 2100.0)
    yield measure.Result("a rival", value, "x", 10, at_least(1000.0), ours, rival)


def missed(effort: Effort) -> Iterator[measure.Result]:
    """A goal that is missed."""
    yield measure.Result("a slow thing", Spread(7.0, 7.0, 7.0), goal=at_most(3.0))


def interrupted(effort: Effort) -> Iterator[measure.Result]:
    """One result, then somebody presses Ctrl-C."""
    yield from met(effort)
    raise KeyboardInterrupt


def broken(effort: Effort) -> Iterator[measure.Result]:
    """One result, then something breaks."""
    yield from met(effort)
    raise RuntimeError("no such\nthing")


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measures whose outcome is known."""
    made = [
        Measure(number, f"measure {number}", "goal in words", "what is compared", take)
        for number, take in enumerate((met, missed, interrupted, broken), 1)
    ]
    monkeypatch.setattr(catalogue, "MEASURES", tuple(made))


def test_the_table_says_what_ran_where_and_who_was_missing() -> None:
    """A real measure, quickly: machine, versions, peers, a row for each result, a warning."""
    result = run(9, "--quick")
    assert result.exit_code == 0
    for word in ("python 3.", "numpy ", "numba ", "9 pending feedback", "not for quoting"):
        assert word in result.stdout
    for peer in PEERS:
        here, absent = (
            f"{peer.name} {peer.presence.version}",
            f"{peer.name}, {peer.presence.reason}",
        )
        line = here if peer.presence.usable else f"Not measured: {absent}"
        assert line in result.stdout
    assert "ask + tell, 1,000 pending" in result.stdout


@pytest.mark.usefixtures("known")
def test_rows_hold_times_ratio_quartiles_and_goal() -> None:
    """In words that need no colour; columns that would be empty are left out."""
    lines = run(1, 2).stdout.splitlines()
    (row,) = (line for line in lines if line.startswith("a rival"))
    expected = ["10", "2", "µs", "4", "ms", "2,000x", "1,900–2,100", "≥", "1,000x", "yes"]  # noqa: RUF001
    assert row.split()[2:] == expected
    (row,) = (line for line in lines if line.startswith("a slow thing"))
    assert row.split()[3:] == ["7x", "≤", "3x", "NO"]
    headings = [line.split() for line in lines if line.endswith("met  ")]
    assert headings[0] == ["K", "ours", "theirs", "value", "quartiles", "goal", "met"]
    assert headings[1] == ["value", "goal", "met"]


@pytest.mark.usefixtures("known")
def test_check_turns_a_missed_goal_into_an_exit_code() -> None:
    """Without it the command has done its work."""
    assert run(1, 2).exit_code == 0
    assert run(1, "--check").exit_code == 0
    assert run(1, 2, "--check").exit_code == 1


@pytest.mark.usefixtures("known")
def test_an_interrupt_shows_what_was_measured() -> None:
    """The measure under way keeps what it has; the next one is not begun."""
    result = run(2, 3, 4)
    assert result.exit_code == 130
    assert "Interrupted; this is what was measured so far." in result.stderr
    for word in ("a slow thing", "a rival"):
        assert word in result.stdout
    assert "measure 4" not in result.stdout
    assert json.loads(run(3, "--json").stdout)["interrupted"] is True


@pytest.mark.usefixtures("known")
def test_a_measure_that_breaks_says_why_and_the_others_go_on() -> None:
    """One line with the reason, and an exit code that nobody overlooks."""
    result = run(4, 1)
    assert result.exit_code == 1
    assert "Not finished. RuntimeError: no such thing" in result.stdout
    assert result.stdout.count("a rival") == 2
    (_, found) = json.loads(run(4, 1, "--json").stdout)["measures"]
    assert found["failure"] == "RuntimeError: no such thing"


@pytest.mark.usefixtures("known")
def test_json_holds_every_number_with_its_name() -> None:
    """One object on standard output."""
    found = json.loads(run(1, "--json").stdout)
    assert set(found) == {"quick", "interrupted", "machine", "peers", "measures"}
    assert {"cpu", "cores", "system", "python", "numpy", "numba", "belated"} <= set(
        found["machine"]
    )
    for peer in found["peers"]:
        assert set(peer) == {"name", "usable", "version", "reason", "install"}
        assert (peer["reason"] is None) is peer["usable"]
    (taken,) = found["measures"]
    assert (taken["number"], taken["title"], taken["failure"]) == (1, "measure 1", "")
    assert taken["results"] == [
        {
            "what": "a rival",
            "arms": 10,
            "value": 2000.0,
            "low": 1900.0,
            "high": 2100.0,
            "unit": "x",
            "goal": {"limit": 1000.0, "at_least": True},
            "met": True,
            "ours_seconds": 2e-6,
            "rival_seconds": 4e-3,
        }
    ]


def test_a_peer_that_is_missing_is_named_and_the_others_are_measured() -> None:
    """As if cvxopt could not be imported here."""
    done = elsewhere("sys.modules['cvxopt'] = None", "4", "--quick", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    (peer,) = (each for each in found["peers"] if each["name"] == "cvxopt")
    assert peer["usable"] is False
    assert "cannot be imported: import of cvxopt halted" in peer["reason"]
    measured = {result["what"] for result in found["measures"][0]["results"]}
    assert measured == {"cvxpy+Clarabel"}


def test_the_list_names_all_measures() -> None:
    """With their goals, and without measuring anything."""
    lines = run("--list").stdout.splitlines()
    titles = [line for line in lines if not line.startswith("   ")]
    assert [int(line.split()[0]) for line in titles] == list(range(1, len(catalogue.MEASURES) + 1))
    assert run(4, "--list").stdout.startswith(" 4 generic solvers: 10,000 times faster")


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_figure_is_drawn(tmp_path: Path, suffix: str) -> None:
    """Of ratios; the same benchmark gives the same file."""
    path, again = tmp_path / f"bench.{suffix}", tmp_path / f"again.{suffix}"
    for target in (path, again):
        result = run(1, 2, "--figure", target)
        assert result.exit_code == 0
        assert f"Figure: {target}" in result.stderr
    assert path.read_bytes() == again.read_bytes()
    assert path.stat().st_size > 5_000


def test_without_matplotlib_a_figure_is_refused_at_once() -> None:
    """With the way to install it, and before anything is measured."""
    done = elsewhere("sys.modules['matplotlib'] = None", "1", "--figure", "bench.svg")
    assert done.returncode == 2
    assert done.stderr == "Error: figures need matplotlib: pip install 'belated[report]'\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((99,), "there is no measure '99'; they are numbered 1 to 32"),
        ((1, 0), "there is no measure '0'"),
        (("fast",), "there is no measure 'fast'"),
        ((1, "--figure", "bench.txt"), "bench.txt is no picture; it must end in .svg, .png or"),
        ((1, "--figure", "nowhere/bench.svg"), "its folder does not exist"),
    ],
)
def test_bad_input_gets_one_line(arguments: tuple[object, ...], sentence: str) -> None:
    """It names the value and the rule."""
    assert sentence in complaint_in(run(*arguments))
