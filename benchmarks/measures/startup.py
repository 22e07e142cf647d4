"""Measures 10 and 11: the wall-clock time of new processes."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

from benchmarks.machine import THREADS
from benchmarks.measure import ANSWER, SECONDS, Effort, Result, at_least, at_most, exactly
from benchmarks.timing import Contestant, Spread, race

NUMPY = "import numpy"
IMPORT = "import belated"
HELP = "from belated.cli import main; main(['--help'])"
DECISION = "import belated; belated.ConcealedBandit(10, max_missing=50, seed=1).ask()"


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
    """Measure 11: the time to the first decision, with an empty cache and then with a warm one."""
    with tempfile.TemporaryDirectory() as cache:
        seconds, said = timed_decision(cache)
        cold = exactly(seconds)
        yield Result("first decision, cold cache", cold, SECONDS, None, at_most(20.0))
        spoken = exactly(float("compil" in said.lower()))
        yield Result("says that it compiles", spoken, ANSWER, None, at_least(1.0))
        repeated = [timed_decision(cache)[0] for _ in range(effort.choose(7, 2))]
        warm = Spread.of(repeated)
        yield Result("first decision, warm cache", warm, SECONDS, None, at_most(1.5))


def timed_decision(cache: str) -> tuple[float, str]:
    """Return the seconds that a process with one decision takes, and its error output."""
    begun = time.perf_counter()
    said = started(DECISION, cache)
    return time.perf_counter() - begun, said
