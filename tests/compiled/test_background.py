"""Compiling in the background: learners answer at once, and are exchanged without a trace."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from belated.compiled.code_files import read, write

# Plays a seeded game; the steps are exchanged before the round in the first argument.
PLAY = """
import sys, json
import belated
from belated.compiled.background import queue
exchanged, kind = int(sys.argv[1]), sys.argv[2]
learner = belated.Bandit(5, learner=kind, seed=3)
seen, waiting = [], []
for t in range(120):
    if t == exchanged:
        assert queue.wait(300) and not queue.interpreted()
    ticket = learner.ask()
    seen.append([ticket.arm, ticket.probability])
    waiting.append(ticket)
    if t % 3 == 2:
        learner.tell(waiting.pop(0), loss=(t * 7 % 10) / 10)
    if t % 10 == 9:
        learner.cancel(waiting.pop(0))
how = "interpreted" if type(learner._runner.ask).__name__ == "function" else "compiled"
print(json.dumps([how, seen, learner.to_json()]))
"""


def run(code: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new process, in which learners are compiled in the background."""
    environment = {**os.environ, "BELATED_COMPILE": "background", **variables}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


def played(cache: Path, exchanged: int, kind: str, **variables: str) -> list[Any]:
    found = run(PLAY, str(exchanged), kind, BELATED_CACHE_DIR=str(cache), **variables)
    assert found.returncode == 0, found.stderr
    result: list[Any] = json.loads(found.stdout)
    return result


def test_a_seeded_run_does_not_depend_on_when_the_compiler_is_done(tmp_path: Path) -> None:
    """Exchanged in the middle, never, from the start, or waited for: the same to the last bit."""
    kind = "exp3"
    middle = played(tmp_path, 50, kind)
    never = played(tmp_path, 999, kind, BELATED_COMPILE="never")
    start = played(tmp_path, 999, kind)  # the code is on disk now
    waited = played(tmp_path, 999, kind, BELATED_COMPILE="wait")
    assert [each[0] for each in (middle, never, start, waited)] == [
        "compiled", "interpreted", "compiled", "compiled",
    ]  # fmt: skip
    assert middle[1:] == never[1:] == start[1:] == waited[1:]


FIRST = """
import belated, sys
from belated.compiled.background import queue
interpreted = []
queue.watch(interpreted.append)
learner = belated.Bandit(5, learner="uniform", seed=3)
learner.ask()
print("numba" in sys.modules)
assert queue.wait(300)
print(*interpreted)
"""


def test_the_first_decision_imports_no_compiler(tmp_path: Path) -> None:
    """It is answered as plain Python; that it will be compiled is said once, unless unwanted.

    Whoever watches is told how many steps are interpreted: here `ask`, and then `tell`, too.
    """
    loud = run(FIRST, BELATED_CACHE_DIR=str(tmp_path), BELATED_QUIET="")
    assert loud.stdout.split() == ["False", "0", "1", "2", "1", "0"]
    (line,) = loud.stderr.splitlines()
    assert line.startswith("belated: compiling in the background")
    warm = run(FIRST, BELATED_CACHE_DIR=str(tmp_path), BELATED_QUIET="")
    assert (warm.stdout.split(), warm.stderr) == (["True", "0"], "")


def test_without_numba_everything_is_interpreted_and_that_is_said_once(tmp_path: Path) -> None:
    """Two learners, one line."""
    code = "import sys; sys.modules['numba'] = None; import belated\n"
    code += "from importlib import util; found = util.find_spec\n"
    code += "util.find_spec = lambda name, *rest: None if name == 'numba' else found(name, *rest)\n"
    code += "[belated.Bandit(3, learner=name).ask() for name in ('exp3', 'uniform')]\n"
    done = run(code, BELATED_CACHE_DIR=str(tmp_path), BELATED_QUIET="")
    assert done.returncode == 0, done.stderr
    (line,) = done.stderr.splitlines()
    assert "numba is not installed" in line
    assert "belated[jit]" in line


NATIVE = """
import sys
from importlib import util
found = util.find_spec
util.find_spec = lambda name, *rest: None if name == "numba" else found(name, *rest)
from belated.compiled import native
native.find = lambda entry: print  # as if the wheel had every step
import belated
[belated.Bandit(3, learner=name) for name in ("exp3", "practical-bandit")]
"""


def test_without_numba_nothing_is_said_of_learners_that_are_native(tmp_path: Path) -> None:
    """Not of the practical bandit either, although its rare rounds are compiled apart."""
    done = run(NATIVE, BELATED_CACHE_DIR=str(tmp_path), BELATED_QUIET="")
    assert (done.returncode, done.stderr) == (0, "")


# A learner in a module of its own, with a kind of state of its own, on our kernels.
OUTSIDE = """
from dataclasses import dataclass
from typing import ClassVar, NamedTuple
import numpy as np
from belated.compiled.kernels import compiled
from belated.learners.adversarial import exp3
from belated.learners.contract import Verbs
from belated.learners.adversarial.exp3 import Exp3

class Exp3State(NamedTuple):
    losses: np.ndarray
    round: np.ndarray

@compiled
def predict(state, prediction):
    exp3.predict(state, prediction)

@dataclass(frozen=True)
class Mine(Exp3):
    name: ClassVar[str] = "mine"
    state: ClassVar[type] = Exp3State
    verbs: ClassVar[Verbs] = Verbs(predict, exp3.commit, exp3.withdraw, exp3.observe)

    def start(self):
        return Exp3State(*super().start())
"""
USE_OUTSIDE = """
import os, pathlib
from belated.compiled.background import queue
import mine
from belated.learners.driver import Driver
drivers = [Driver(kind(arms=3)) for kind in (mine.Mine, mine.Exp3)]
assert queue.wait(300) and not queue.interpreted(), queue.interpreted()
kept = list(pathlib.Path(os.environ["BELATED_CACHE_DIR"]).rglob("*mine*"))
for driver in drivers:
    print(driver.weights().tolist(), kept, type(driver._runner.ask).__name__)
"""


def test_a_learner_from_outside_leaves_nothing_for_other_processes(tmp_path: Path) -> None:
    """It is compiled in its own process, while others start cold with the learner it is built on.

    Its kind of state is called like that learner's, and both run compiled.
    """
    (tmp_path / "mine.py").write_text(OUTSIDE)
    cache = tmp_path / "cache"
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    given = {"BELATED_CACHE_DIR": str(cache), "PYTHONPATH": path}
    with ThreadPoolExecutor() as pool:
        mine = pool.submit(run, USE_OUTSIDE, **given)
        others = [pool.submit(played, cache, 50, "exp3") for _ in range(2)]
        outcomes = [mine.result(), run(USE_OUTSIDE, **given)]
    third = repr(1.0 / 3.0)
    for each in outcomes:
        assert each.returncode == 0, each.stderr
        assert each.stdout == f"[{third}, {third}, {third}] [] builtin_function_or_method\n" * 2
    first, second, after = (*(each.result() for each in others), played(cache, 999, "exp3"))
    assert first[0] == "compiled"
    assert first == second == after


def test_kept_code_that_cannot_be_loaded_is_compiled_again(tmp_path: Path) -> None:
    """A file that is whole, but is not code: it is replaced, and decisions are as ever."""
    first = played(tmp_path, 50, "uniform")
    for path in tmp_path.rglob("*.code"):
        write(path, b"not code")
    again = played(tmp_path, 50, "uniform")
    assert again == first
    assert all(read(path) != b"not code" for path in tmp_path.rglob("*.code"))
