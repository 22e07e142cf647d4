"""The wheel with native learners, installed where there is no numba.

`BELATED_WHEEL_LEARNERS=all` builds it with every learner, as `make wheel` does, which takes
minutes; otherwise it has a bandit, experts, and the learner with steps of its own for many arms.
"""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from belated.learners.registry import registered

GIVEN = os.environ.get("BELATED_WHEEL_LEARNERS", "exp3,anytime-hedge,concealed")
LEARNERS = list(registered()) if GIVEN == "all" else GIVEN.split(",")
ROOT = Path(__file__).parents[2]
SOURCE = str(ROOT / "src")
CLEARED = (  # the commands are given these or do without
    *("BELATED_COMPILE", "BELATED_COMPILED", "BELATED_NATIVE", "NUMBA_DISABLE_JIT", "PYTHONPATH"),
)
PLAYING = Path(__file__).with_name("playing.py")
MOST_BYTES = 5e6  # of the wheel
pytestmark = [
    pytest.mark.check,
    pytest.mark.skipif(
        (sys.platform, platform.machine()) != ("linux", "x86_64"),
        reason="there is a wheel with native learners for Linux on x86-64 only",
    ),
]


FINDING = """
from belated.cli.learners import entries_of
from belated.compiled import native
from belated.learners.registry import learner_named

def steps_of(name):
    return [native.find(entry) for entry in entries_of(learner_named(name))]
"""
FOUND = f"{FINDING}\nprint([all(steps_of(name)) for name in ('exp3', 'concealed')])"
REFUSED = f"""{FINDING}
count, ask, tell, play = steps_of("exp3")
for step, *given in (
    (ask,),
    (ask, "there", 0),
    (ask, 0, 0.5),
    (tell, 0, None, 0.5, 0, 0),
    (tell, 0, (0, 0.5), 0.5, 0, 0),  # exp3 freezes one number
    (tell, 0, (0, 0.5, 0.5), "high", 0, 0),
    (tell, 0, (None, 0.5, 0.5), 0.5, 0, 0),
    (count, 0, [0], [0], 0, 0),
    (count, 0, bytes(8), bytes(8), 0, 0),
):
    try:
        step(*given)
    except (TypeError, ValueError, SystemError):
        continue
    raise AssertionError(given)
"""


class Installed(NamedTuple):
    """A wheel, and the Python of an environment in which only that wheel was installed."""

    wheel: Path
    python: Path


def run(*command: str | Path, **environment: str) -> str:
    """Run a command in the clone with these variables; returns what it prints."""
    kept = {name: value for name, value in os.environ.items() if name not in CLEARED}
    result = subprocess.run(
        command, cwd=ROOT, env={**kept, **environment}, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def played(python: Path, rounds: int, learners: Iterable[str], **environment: str) -> Any:
    """What learners do in an environment, in games of so many rounds."""
    return json.loads(run(python, PLAYING, str(rounds), *learners, **environment))


def installed_in(folder: Path) -> Installed:
    """Build a wheel with native learners, and install it in a fresh environment."""
    native, names = folder / "_native.abi3.so", ",".join(LEARNERS)
    pip = ("-m", "pip", "--disable-pip-version-check")
    run(sys.executable, "-m", "wheels", native, "--learners", names, PYTHONPATH=SOURCE)
    build = ("wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    run(sys.executable, *pip, *build, BELATED_NATIVE_OBJECT=str(native))
    (wheel,) = folder.glob("*.whl")
    run(sys.executable, "-m", "venv", folder / "env")
    python = folder / "env" / "bin" / "python"
    run(python, *pip, "install", wheel)
    return Installed(wheel, python)


def test_a_wheel_with_native_learners(tmp_path: Path) -> None:
    """It is one test, because each process of pytest would build a wheel of its own."""
    installed = installed_in(tmp_path)
    assert_small_and_tagged(installed.wheel)
    assert_played_alike(installed.python)
    assert_all_play(installed.python)
    assert_refused(installed.python)
    assert_only_of_these_sources(installed.python)


def assert_small_and_tagged(wheel: Path) -> None:
    """It is for Python 3.11 and newer, with a C library not much older than this one."""
    assert "-cp311-abi3-manylinux_2_" in wheel.name
    assert wheel.name.endswith("_x86_64.whl")
    assert wheel.stat().st_size <= MOST_BYTES


def assert_played_alike(python: Path) -> None:
    """Without numba, native learners do what compiled ones do, to the last digit.

    That holds for every decision, for the state, and for the games of the engine.
    """
    native = played(python, 2000, LEARNERS)
    clone = {"BELATED_COMPILE": "wait", "PYTHONPATH": SOURCE}
    compiled = played(Path(sys.executable), 2000, LEARNERS, **clone)
    assert not native["numba"]
    assert compiled["numba"]
    for name in LEARNERS:
        ours, theirs = native["learners"][name], compiled["learners"][name]
        assert all(ours["native"])
        assert not any(theirs["native"])
        assert ours["digits"] == theirs["digits"]


def assert_all_play(python: Path) -> None:
    """Learners that are not native play as well: as plain Python, since there is no compiler."""
    others = registered().keys() - {*LEARNERS}
    assert played(python, 20, sorted(others))["learners"].keys() == others


def assert_refused(python: Path) -> None:
    """A native step says that it cannot use its arguments before it touches any memory."""
    run(python, "-c", REFUSED)


def assert_only_of_these_sources(python: Path) -> None:
    """An edit of one learner makes its own native steps useless; a variable switches off all."""
    module = "import belated.learners.adversarial.exp3 as module; print(module.__file__)"
    assert run(python, "-c", FOUND).strip() == "[True, True]"
    assert run(python, "-c", FOUND, BELATED_NATIVE="0").strip() == "[False, False]"
    with Path(run(python, "-c", module).strip()).open("a") as source:
        source.write("# edited\n")
    assert run(python, "-c", FOUND).strip() == "[False, True]"
