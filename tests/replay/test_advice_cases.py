"""Cases in which policies give advice, as `belated replay` reads and answers them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from belated.cli import main
from belated.replay.case import parse_case
from tests.cli.commands import complaint

CASES = sorted((Path(__file__).parents[1] / "cases" / "beyond").glob("a[56]_*.json"))


def test_the_command_answers_every_case() -> None:
    """One line of JSON each, with all arrays of the answer within 1e-10."""
    run = CliRunner().invoke(main, ["replay", *map(str, CASES)])
    assert run.exit_code == 0
    assert run.stderr == ""
    for line, path in zip(run.stdout.splitlines(), CASES, strict=True):
        answer, expected = json.loads(line), json.loads(path.read_text())["answer"]
        assert answer.keys() == expected.keys()
        for key, wanted in expected.items():
            y = np.array(wanted)
            error = np.abs(np.array(answer[key]) - y) / np.maximum(1.0, np.abs(y))
            assert error.max() <= 1e-13, key


def changed(**changes: Any) -> dict[str, Any]:
    """A small valid case with some keys changed; None removes a key."""
    case: dict[str, Any] = {
        "setting": "advice-concealed",
        "K": 2,
        "N": 2,
        "T": 2,
        "losses": [[0.1, 0.2], [0.3, 0.4]],
        "delays": [[0, 1], [None, 0]],
        "advice": [[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]],
        "arms": [0, 1],
    }
    case.update(changes)
    return {key: value for key, value in case.items() if value is not None}


EVEN = [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("case", "told"),
    [
        (changed(setting="advice"), "'advice'"),
        (changed(N=None), "N is not given"),
        (changed(N=0), "N is 0"),
        (changed(N=3), "in round 1: advice must be a table with a row for each of 3 policies"),
        (changed(advice=None), "advice must have a table for each of 2 rounds"),
        (changed(advice=[EVEN]), "a table for each of 2 rounds"),
        (changed(advice=[EVEN, 3]), "in round 2"),
        (changed(advice=[EVEN, [[0.5, 0.5], [0.5]]]), "in round 2: advice must be a table"),
        (changed(advice=[EVEN, [[0.5, 0.5], [True, 0.0]]]), "in round 2"),
        (changed(advice=[EVEN, [[0.5, 0.5], ["1", 0.0]]]), "in round 2"),
        (changed(advice=[[[0.0, 0.0], [0.5, 0.5]], EVEN]), "policy 0 advises nothing"),
        (changed(advice=[EVEN, [[0.5, 0.5], [0.5, 0.6]]]), "in round 2: policy 1 advises prob"),
        (changed(advice=[EVEN, [[0.5, 0.5], [-0.5, 1.5]]]), "numbers from 0 to 1"),
        (changed(arms=[0, 0]), "the arm of round 2 is 0, which no policy advises"),
        (changed(arms=None), "arms must list"),
        (changed(prior=[1.0, 0.0]), "every policy must have a weight above 0"),
        (changed(prior=[1.0]), "prior has 1 weights"),
        (changed(losses=[[0.1, 0.2], [0.3, 1.5]]), "1.5"),
        (changed(delays=[[0, 1], [-1, 0]]), "-1"),
    ],
)
def test_a_bad_case_gets_one_clear_line(case: Any, told: str, tmp_path: Path) -> None:
    """The file, the value and the rule; no traceback."""
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(case))
    line = complaint("replay", file)
    assert "bad.json" in line
    assert told in line


def test_what_a_case_does_not_use_is_said() -> None:
    """A case with full information names no arms, and none of them has a promise."""
    assert parse_case(changed()).ignored == ()
    assert parse_case(changed(setting="advice-full", rho_star=1)).ignored == ("arms", "rho_star")


def test_the_papers_decomposition_is_of_the_papers_learners() -> None:
    assert "this case has policies" in complaint("replay", CASES[0], "--decompose")
