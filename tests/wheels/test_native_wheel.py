"""The wheel with native learners, installed where there is no numba.

`BELATED_WHEEL_LEARNERS=all` builds it with every learner, as `make wheel` does, which takes
minutes; otherwise it has a bandit, experts, and the learner with steps of its own for many arms.
"""

import json
import os
import platform
import subprocess
import sys
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
    (tell, 0, (0, 0.5, ()), 0.5, 0, 0),
    (tell, 0, (0, 0.5, (0.5, 0.5)), "high", 0, 0),
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


def played(python: Path, **environment: str) -> Any:
    """What the learners do in an environment."""
    return json.loads(run(python, PLAYING, *LEARNERS, **environment))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """A wheel with native learners, installed in a fresh environment."""
    folder = tmp_path_factory.mktemp("wheel")
    native, pip = folder / "_native.abi3.so", ("-m", "pip", "--disable-pip-version-check")
    names = ",".join(LEARNERS)
    run(sys.executable, "-m", "wheels", native, "--learners", names, PYTHONPATH=SOURCE)
    build = ("wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    run(sys.executable, *pip, *build, BELATED_NATIVE_OBJECT=str(native))
    (wheel,) = folder.glob("*.whl")
    run(sys.executable, "-m", "venv", folder / "env")
    python = folder / "env" / "bin" / "python"
    run(python, *pip, "install", wheel)
    return Installed(wheel, python)


def test_the_wheel_is_small_and_says_where_it_runs(installed: Installed) -> None:
    """On Python 3.11 and newer, with a C library not much older than the one it was built with."""
    name, size = installed.wheel.name, installed.wheel.stat().st_size
    assert "-cp311-abi3-manylinux_2_" in name
    assert name.endswith("_x86_64.whl")
    assert size <= MOST_BYTES


def test_native_learners_play_like_compiled_ones_without_numba(installed: Installed) -> None:
    """To the last digit of every decision, of the state, and of the games of the engine."""
    native = played(installed.python)
    compiled = played(Path(sys.executable), BELATED_COMPILE="wait", PYTHONPATH=SOURCE)
    assert not native["numba"]
    assert compiled["numba"]
    for name in LEARNERS:
        ours, theirs = native["learners"][name], compiled["learners"][name]
        assert all(ours["native"])
        assert not any(theirs["native"])
        assert ours["digits"] == theirs["digits"]


def test_native_code_of_other_sources_is_not_used(installed: Installed) -> None:
    """An edit of one learner makes its own native steps useless; a variable switches off all."""
    module = "import belated.learners.adversarial.exp3 as module; print(module.__file__)"
    assert run(installed.python, "-c", FOUND).strip() == "[True, True]"
    assert run(installed.python, "-c", FOUND, BELATED_NATIVE="0").strip() == "[False, False]"
    path = Path(run(installed.python, "-c", module).strip())
    before = path.read_text()
    path.write_text(f"{before}\n# edited\n")
    try:
        assert run(installed.python, "-c", FOUND).strip() == "[False, True]"
    finally:
        path.write_text(before)


def test_native_steps_refuse_what_they_cannot_use(installed: Installed) -> None:
    """They say so before they read or write any memory."""
    run(installed.python, "-c", REFUSED)
