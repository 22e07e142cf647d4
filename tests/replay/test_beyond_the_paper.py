"""Replayed cases of what goes beyond the paper, against worked answers and the oracle."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from belated.cli.replay import replay as command
from belated.replay.case import parse_case
from belated.replay.decomposition import readable
from belated.replay.replay import learner_for, replay
from tests.oracle import answer
from tests.oracle.random_games import random_case

WORKED = Path(__file__).parents[1] / "cases" / "beyond"
KEYS = ("q", "gamma", "W", "skipped", "Z")


def replayed(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What the command prints for a case."""
    path = folder / "case.json"
    path.write_text(json.dumps(case))
    run = CliRunner().invoke(command, [str(path)])
    assert run.exit_code == 0, run.output
    printed: dict[str, Any] = json.loads(run.stdout)
    return printed


def check_equal(found: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    """Numbers within the tolerance; skipped plays and infinite rates exactly."""
    for key in [key for key in KEYS if key in expected]:
        if key == "skipped":
            assert found[key] == expected[key]
            continue
        assert [x is None for x in found[key]] == [x is None for x in expected[key]], key
        numbers = [[x for x in each[key] if x is not None] for each in (found, expected)]
        np.testing.assert_allclose(*numbers, rtol=tolerance, atol=tolerance, err_msg=key)


@pytest.mark.parametrize("path", sorted(WORKED.glob("[rs]*.json")), ids=lambda path: path.stem)
def test_worked_cases(path: Path, tmp_path: Path) -> None:
    content = json.loads(path.read_text())
    check_equal(replayed(content["case"], tmp_path), content["answer"], 1e-12)


@pytest.mark.core("setting")
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("setting", ["concealed", "skipping"])
def test_random_games(setting: str, seed: int, tmp_path: Path) -> None:
    """Kernels to 1e-12 of the oracle, and the readable learner as well."""
    case = random_case(setting, seed)
    expected = answer(case)
    check_equal(replayed(case, tmp_path), expected, 1e-12)
    read = parse_case(case)
    slow = replay(read, readable(read))
    np.testing.assert_allclose(slow.q, np.array(expected["q"]), rtol=0, atol=1e-11)


def test_a_promise_that_is_left_out_is_none() -> None:
    case = random_case("concealed", 0)
    assert case.pop("rho_star") is None
    assert parse_case(case).options["max_missing"] is None
    with pytest.raises(ValueError, match="rho_star is not given"):
        parse_case(case | {"variant": "paper"})


def test_skipping_is_for_the_repaired_learner_without_a_promise() -> None:
    case = random_case("skipping", 0)
    with pytest.raises(ValueError, match="skipping is True; it must be False unless"):
        learner_for(parse_case(case | {"rho_star": 5}))
    with pytest.raises(ValueError, match="skipping is 'yes'"):
        learner_for(parse_case(case | {"options": {"skipping": "yes"}}))
