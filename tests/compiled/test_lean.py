"""Lean steps: rare rounds are compiled when they are first needed, and nothing else changes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.laws.test_interpreted_equals_compiled import COMPILED, INTERPRETED, digests, started

ROOT = Path(__file__).parents[2]


def run(*arguments: str, compile_mode: str) -> list[Any]:
    """Run the learner with rare rounds in a new process."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.compiled.rare_rounds", *arguments],
        env={**os.environ, "BELATED_COMPILE": compile_mode},
        capture_output=True,
        text=True,
        timeout=600,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    result: list[Any] = json.loads(done.stdout)
    return result


def test_a_step_is_lean_until_a_rare_round_and_whole_when_that_is_compiled() -> None:
    """Decisions and states are those of plain Python, whenever the compiler is done."""
    plain, *expected = run("ask", compile_mode="never")
    exchanged, *found = run("ask", "20", "60", compile_mode="background")
    waited, *at_once = run("ask", "20", "60", compile_mode="wait")
    assert plain == ["interpreted", "interpreted"]
    # compiled before the 20th round; needed in the 39th; compiled before the 60th
    assert exchanged == ["interpreted", "lean", "whole", "whole"]
    assert waited == ["lean", "lean", "whole", "whole"]
    assert expected == found == at_once


def test_a_game_goes_on_with_the_whole_loop_from_the_rare_round_on() -> None:
    """Sums, plays and the last state are those of plain Python."""
    (before, after), *found = run("play", compile_mode="wait")
    _, *expected = run("play", compile_mode="never")
    assert (before, after) == (True, False)
    assert found == expected


@pytest.mark.check
def test_the_practical_bandit_computes_the_same_bits_from_an_empty_cache(tmp_path: Path) -> None:
    """Its lean steps give way to whole ones when the fallback is needed."""
    spec, empty = "practical-bandit:beta=0.0", {"BELATED_CACHE_DIR": str(tmp_path)}
    with started(spec, INTERPRETED) as plain, started(spec, COMPILED | empty) as compiled:
        expected, found = digests(plain), digests(compiled)
    assert expected == found
    kept = [each.name for each in tmp_path.rglob("*.code")]
    assert len(kept) == 4, kept  # ask and tell, each of them lean and whole
