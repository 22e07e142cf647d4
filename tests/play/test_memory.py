"""Long games need no more memory than short ones: nothing grows with the number of rounds."""

import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import re
import belated
from belated.environments.delays import UniformDelays
from belated.environments.losses import Bernoulli

means = [0.3 + 0.03 * i for i in range(10)]
environment = belated.Environment("long", Bernoulli(means), UniformDelays(0, 50), {rounds})
result = belated.compare(["{learner}"], environment, repetitions=1)
assert result.traces[0][0].plays.sum() == {rounds}
print(re.search("VmHWM: *([0-9]+)", open("/proc/self/status").read().replace("\\t", " "))[1])
"""


def peak(learner: str, rounds: int) -> float:
    """The largest memory of a process that plays one long game, in megabytes.

    Not `ru_maxrss`, which a process inherits from the one that started it.
    """
    code = CODE.format(learner=learner, rounds=rounds)
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=550, check=True
    )
    return int(run.stdout) / 1000.0


@pytest.mark.compiled  # hours without
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's own figures")
def test_memory_does_not_grow_with_the_rounds() -> None:
    """Twenty times the rounds, the same memory, below 500 MB."""
    short, long = (peak("concealed", rounds) for rounds in (150_000, 3_000_000))
    assert long < 500.0
    assert long < short + 30.0
