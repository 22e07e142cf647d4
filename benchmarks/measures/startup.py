"""Measures 10 and 11: the wall-clock time of new processes."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

from benchmarks.machine import THREADS
from benchmarks.measure import SECONDS, Effort, Result, at_most
from benchmarks.timing import Contestant, Spread, race

NUMPY = "import numpy"
IMPORT = "import belated"
HELP = "from belated.cli import main; main(['--help'])"
FIRST = {
    "ConcealedBandit": "import belated\nbelated.ConcealedBandit(10, max_missing=50).ask()\n",
    "practical bandit": "import belated\nbelated.Bandit(10, learner='practical-bandit').ask()\n",
    "experts": "import belated\nbelated.Experts(10, learner='practical-experts').ask()\n",
    "linear": "import belated\n"
    "belated.Bandit(10, learner='linear', features=['age']).ask(context={'age': 31})\n",
}
SECONDS_SINCE = "import time\nprint(time.time() - begun)\n"
UNTIL_COMPILED = f"""{SECONDS_SINCE}
from belated.compiled.background import queue
assert queue.wait(600) and not queue.interpreted()
print(time.time() - begun)
"""


def started(code: str, cache: str | None = None) -> str:
    """Run code in a new process as a user would; returns its standard error output."""
    environment = {key: value for key, value in os.environ.items() if key not in THREADS}
    if cache is not None:
        environment["BELATED_CACHE_DIR"] = cache
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stderr


def imports(effort: Effort) -> Iterator[Result]:
    """Measure 10: `import belated` and `belated --help` in a new process, against numpy."""
    codes = {"import numpy": NUMPY, "import belated": IMPORT, "belated --help": HELP}
    contestants = [Contestant(name, starting(code)) for name, code in codes.items()]
    result = race(contestants, effort.choose(15, 2), clock=time.perf_counter_ns)
    for name, goal in (("import belated", 1.5), ("belated --help", 2.5)):
        yield Result(
            name,
            result.ratio(name, to="import numpy"),
            goal=at_most(goal),
            ours=result.time(name),
            rival=result.time("import numpy"),
        )


def starting(code: str) -> Callable[[int], None]:
    """Return a function that starts a process and waits for it, a number of times."""

    def work(count: int) -> None:
        for _ in range(count):
            started(code)

    return work


def first_decision(effort: Effort) -> Iterator[Result]:
    """Measure 11: the first decision with an empty cache, when it runs compiled, and a warm one."""
    for name, code in list(FIRST.items())[-1 if effort.quick else 0 :]:
        cold, compiled, warm = [], [], []
        for _ in range(effort.choose(5, 1)):
            with tempfile.TemporaryDirectory() as cache:
                decided, exchanged = map(float, printed(code + UNTIL_COMPILED, cache).split())
                cold.append(decided)
                compiled.append(exchanged)
                warm.append(float(printed(code + SECONDS_SINCE, cache)))
        yield Result(f"{name}, empty cache", Spread.of(cold), SECONDS, None, at_most(1.0))
        yield Result(f"{name}, until compiled", Spread.of(compiled), SECONDS, None, at_most(20.0))
        yield Result(f"{name}, warm cache", Spread.of(warm), SECONDS, None, at_most(0.7))


def printed(code: str, cache: str, python: str = sys.executable) -> str:
    """Run code in a new process that compiles in the background; returns what it prints.

    The clock starts before the process does.
    """
    environment = {key: value for key, value in os.environ.items() if key not in THREADS}
    environment |= {"BELATED_CACHE_DIR": cache, "BELATED_COMPILE": "background"}
    code = f"begun = {time.time()!r}\n{code}"
    done = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout
