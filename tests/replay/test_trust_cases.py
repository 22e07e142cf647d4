"""Cases of certified trust (Theorem 4), as `belated replay` reads and answers them."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from belated.cli import main
from tests.cli.commands import complaint
from tests.oracle import answer
from tests.oracle.random_games import random_case

WORKED = sorted((Path(__file__).parents[1] / "cases" / "beyond").glob("t4_*.json"))


def check_answer(line: str, expected: dict[str, Any]) -> None:
    """C and b within 1e-12, and exactly which rounds are trusted."""
    found = json.loads(line)
    assert found.keys() == expected.keys()
    assert found["trusted"] == expected["trusted"]
    for key in ("C", "b"):
        np.testing.assert_allclose(found[key], expected[key], rtol=1e-12, atol=1e-12)


def test_worked_cases() -> None:
    run = CliRunner().invoke(main, ["replay", *map(str, WORKED)])
    assert (run.exit_code, run.stderr) == (0, "")
    for line, path in zip(run.stdout.splitlines(), WORKED, strict=True):
        check_answer(line, json.loads(path.read_text())["answer"])


def test_random_games(tmp_path: Path) -> None:
    """Forty games against the oracle; some lose trust, and some of these regain it."""
    cases = [random_case("certified-trust", seed, T=4 + seed) for seed in range(40)]
    losses, delays = [[0.67], [0.65], [0.5], [0.5]], [[0], [0], [None], [0]]
    alone = {"losses": losses, "delays": delays}  # 0.67 + 0.65 + 1 - (0.67 + 0.65) is above 1
    cases.append(random_case("certified-trust", 1, K=1, T=4) | {"beta": 0} | alone)
    paths = [tmp_path / f"{number}.json" for number in range(len(cases))]
    for path, case in zip(paths, cases, strict=True):
        path.write_text(json.dumps(case))
    run = CliRunner().invoke(main, ["replay", *map(str, paths)])
    assert (run.exit_code, run.stderr) == (0, "")
    changes = set()
    for line, case in zip(run.stdout.splitlines(), cases, strict=True):
        check_answer(line, answer(case))
        trusted = json.loads(line)["trusted"]
        changes |= set(itertools.pairwise(trusted))
    assert changes == {(True, True), (True, False), (False, True), (False, False)}


def changed(**changes: Any) -> dict[str, Any]:
    """A small valid case with some keys changed; None removes a key."""
    case: dict[str, Any] = {
        "setting": "certified-trust",
        "K": 2,
        "T": 2,
        "beta": 0.5,
        "losses": [[0.1, 0.2], [0.3, 0.4]],
        "delays": [[0, 1], [None, 0]],
        "q": [[0.5, 0.5], [1.0, 0.0]],
        "arms": [1, 0],
    }
    case.update(changes)
    return {key: value for key, value in case.items() if value is not None}


@pytest.mark.parametrize(
    ("case", "told"),
    [
        (changed(beta=None), "beta is None; it must be a number of at least 0"),
        (changed(beta=-1), "beta is -1"),
        (changed(beta=True), "beta is True"),
        (changed(beta=float("inf")), "beta is inf"),
        (changed(q=None), "q has None rows"),
        (changed(q=[[0.5, 0.5]]), "q has 1 rows"),
        (changed(q=[[0.5, 0.5], [1.0]]), "q in round 2 must have one number for each of 2 arms"),
        (changed(q=[[0.5, 0.5], [1.0, "0"]]), "it must be a list of numbers"),
        (changed(q=[[0.5, 0.5], [1.5, -0.5]]), "weights must be at least 0"),
        (changed(q=[[0.5, 0.6], [1.0, 0.0]]), "q in round 1 is [0.5, 0.6]"),
        (changed(arms=[1, 1]), "the arm of round 2 is 1, whose weight in q is 0"),
        (changed(arms=None), "arms must list"),
        (changed(losses=[[0.1, 0.2], [0.3, 1.5]]), "1.5"),
        (changed(delays=[[0, 1], [-1, 0]]), "-1"),
        (changed(K=0), "K is 0"),
    ],
)
def test_a_bad_case_gets_one_clear_line(case: Any, told: str, tmp_path: Path) -> None:
    """The file, the value and the rule; no traceback."""
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(case))
    line = complaint("replay", file)
    assert "bad.json" in line
    assert told in line


def test_what_a_case_does_not_use_is_said(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(changed(rho_star=3)))
    run = CliRunner().invoke(main, ["replay", str(file)])
    assert run.exit_code == 0
    assert "the key 'rho_star' is ignored" in run.stderr


def test_the_papers_decomposition_is_of_the_papers_learners() -> None:
    assert "this case has none" in complaint("replay", WORKED[0], "--decompose")


def log_of(case: dict[str, Any]) -> str:
    """The plays of a case as a log: what was drawn with which probability, and when it was told."""
    lines = ["round,arm,probability,loss,arrival"]
    for t, arm in enumerate(case["arms"]):
        delay, told = case["delays"][t][arm], ","
        if delay is not None:
            told = f"{case['losses'][t][arm]!r},{t + 1 + delay}"
        lines.append(f"{t + 1},arm{arm},{case['q'][t][arm]!r},{told}")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", [3, 7, 11, 18])
def test_along_a_log_a_certified_learner_keeps_the_account_of_the_log(
    tmp_path: Path, seed: int
) -> None:
    """The account depends on the log alone, so it is the oracle's; the terminal sums it up."""
    case = random_case("certified-trust", seed, K=3, T=30)
    path = tmp_path / "log.csv"
    path.write_text(log_of(case))
    learner = f"practical-bandit:beta={case['beta']!r}"
    given = ["replay", str(path), "--arms", "arm0,arm1,arm2", "--learner"]
    run = CliRunner().invoke(main, [*given, learner, "--json"])
    assert run.exit_code == 0, run.stderr
    found, expected = json.loads(run.stdout), answer(case)
    check_answer(json.dumps({key: found[key] for key in ("C", "b", "trusted")}), expected)
    shown = CliRunner().invoke(main, [*given, learner]).stdout
    share = 100.0 * sum(expected["trusted"]) / 30
    assert f"{share:.4g} % of all rounds are trusted" in shown
    plain = CliRunner().invoke(main, [*given, f"{learner},certified=0", "--json"])
    assert json.loads(plain.stdout).keys() == {"arms", "q"}
