"""belated evaluate: a table, JSON, a page, and one clear line for bad input."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import belated
from belated.cli import main
from belated.client import Client
from tests.cli.commands import complaint
from tests.evaluation.test_logs import written
from tests.evaluation.worked_case import ROWS_AS_DICTS
from tests.service.server import serving

TERMS = ("--now", 50, "--silence", "missing", "--draws", 20)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The worked case as a file."""
    return written(tmp_path / "log.csv", ROWS_AS_DICTS)


def run(*arguments: object) -> Any:
    """A run of the command that ends well."""
    found = CliRunner().invoke(main, ["evaluate", *map(str, arguments)])
    assert found.exit_code == 0, found.output
    return found


def test_a_table(log: Path) -> None:
    """A line for each policy and estimator, and what was assumed."""
    found = run(log, "-p", "1", "-p", "uniform", "-e", "ips,snips", *TERMS)
    for word in ("logged", "uniform", "snips", "37.5% of 8 rows not told (missing)", "bootstrap"):
        assert word in found.stdout, word
    assert "rests on" in found.stderr


def test_json_and_page(log: Path, tmp_path: Path) -> None:
    """The same numbers for machines, and the page beside."""
    page = tmp_path / "page.html"
    found = run(log, "-p", "1", "-e", "ips", "--json", "--report", page, *TERMS)
    content = json.loads(found.stdout)
    value = belated.evaluate(
        log, {"1": "1"}, estimators=["ips"], silence="missing", draws=20, now=50
    )["1"].ips.value
    assert content["policies"][1]["estimates"]["ips"]["value"] == value
    assert page.read_text().startswith("<!doctype html>")


def test_policies_from_files(log: Path, tmp_path: Path) -> None:
    """A function of a Python file, and a learner that was saved."""
    code = tmp_path / "mine.py"
    code.write_text("def choose(context):\n    return '1' if context['segment'] == '0' else '0'\n")
    saved = tmp_path / "saved.json"
    saved.write_text(belated.Bandit(["0", "1"], learner="uniform", seed=1).to_json())
    names = f"{code}:choose", str(saved)
    found = run(log, "-p", names[0], "-p", names[1], "-e", "ips", "--json", *TERMS)
    values = {each["policy"]: each["estimates"] for each in json.loads(found.stdout)["policies"]}
    assert values[names[0]]["ips"]["value"] == pytest.approx(0.833333, abs=1e-6)
    uniform = belated.evaluate(
        log, {"u": "uniform"}, estimators=["ips"], silence="missing", draws=20, now=50
    )
    assert values[names[1]]["ips"]["value"] == pytest.approx(uniform["u"].ips.value)


def test_bad_input_gets_one_line(log: Path, tmp_path: Path) -> None:
    """With exit code 2, and nothing on standard output."""
    (tmp_path / "bad.py").write_text("x = 1\n")
    (tmp_path / "bad.json").write_text("{}")
    cases = [
        (("nothing.csv", "-p", "uniform"), "nothing.csv cannot be read"),
        ((log, "-p", "green"), "policy is 'green'; it must be one of"),
        ((log, "-p", "uniform", "--silence", "default"), "then default_loss must say"),
        ((log, "-p", "uniform", "-e", "magic"), "estimator is 'magic'"),
        ((log, "-p", f"{tmp_path}/no.py:f"), "there is no file"),
        ((log, "-p", f"{tmp_path}/bad.py:f"), "must have a function 'f'"),
        ((log, "-p", f"{tmp_path}/bad.json"), "saved"),
        ((log, "-p", "uniform", "--report", "x.pdf"), "a report must end in .html"),
        (("http://127.0.0.1:9/elsewhere", "-p", "uniform"), "it must read http://HOST/v1/problems"),
        (
            ("http://127.0.0.1:9/v1/problems/x", "-p", "uniform"),
            "http://127.0.0.1:9 cannot be reached",
        ),
    ]
    for arguments, said in cases:
        assert said in complaint("evaluate", *arguments), arguments


def test_a_running_service_and_its_export(tmp_path: Path) -> None:
    """Expired plays were not told, unless a report came late; the file says the same."""
    database = str(tmp_path / "journal.db")
    with serving(database, "--no-auth") as server, Client(server.address) as client:
        client.create_problem(
            "ads", ["red", "blue"], learner="uniform", expire_after=3, default_loss=1
        )
        tickets = [client.ask("ads") for _ in range(12)]
        for ticket in tickets[9:11]:
            client.tell(ticket, reward=1.0)
        with pytest.raises(belated.ClosedTicketError):  # it expired long ago; the report is kept
            client.tell(tickets[0], reward=0.25)
        address = f"{server.address}/v1/problems/ads"
        found = json.loads(run(address, "-p", "uniform", "-e", "snips", "--json").stdout)
        journal = belated.read_log(address)
        CliRunner().invoke(
            main, ["export", "ads", str(tmp_path / "ads.csv"), "--server", server.address]
        )
    assert (found["rows"], found["untold"]) == (12, pytest.approx(9 / 12))
    assert journal.clock == "seconds"
    assert journal.rewards[0] == 0.25
    assert journal.told.sum() == 3
    exported = belated.read_log(tmp_path / "ads.csv")
    assert exported.rewards == pytest.approx(journal.rewards, nan_ok=True)
    assert exported.delays == pytest.approx(journal.delays, nan_ok=True)
