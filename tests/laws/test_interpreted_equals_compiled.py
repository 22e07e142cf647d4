"""Interpreted and compiled, every learner computes the same bits.

A seeded run must not depend on when the compiler is done. So each learner plays the games of
`belated.testing.digests` in two processes, one interpreted and one compiled, and every digest of
its weights, plays and states must be equal.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from belated.learners.registry import registered
from tests.conftest import FAMILIES

# How a process is told to run kernels as plain Python, or compiled.
INTERPRETED, COMPILED = {"BELATED_COMPILE": "never"}, {"BELATED_COMPILE": "wait"}
VARIANTS = [
    "concealed:variant=repaired",
    "concealed:variant=repaired,skipping=True",
    "partially-concealed:variant=repaired",
    "full-information:variant=repaired",
    "practical-bandit:forgets=0,certified=0,default_loss=0.7",
    "practical-experts:imputes=0,tracks=0",
    "linear:default_loss=1.0,interactions=2,features=3,ages=seconds",
    "adahedged:hint=prev",
    "dorm:hint=mean",
    "dorm-plus:hint=recent",
    "dub:hint=recent",
    "msmwc:hint=last",
    "d-ucb:censor=2",
    "d-klucb:epsilon=0.1",
    "odaaf:form=bounded",
    "odaaf:form=variance,delay_variance=20.0",
]


def started(spec: str, environment: dict[str, str], *short: str) -> subprocess.Popen[str]:
    """Start a process that plays a learner."""
    return subprocess.Popen(
        [sys.executable, "-m", "belated.testing.digests", *short, spec],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env=os.environ | environment,
    )


def digests(process: subprocess.Popen[str]) -> dict[str, str]:
    """Wait for the process; returns its digests by number of arms and round."""
    output, _ = process.communicate()
    assert process.returncode == 0
    (found,) = json.loads(output).values()
    assert found
    return dict(found)


@pytest.mark.core("spec")
@pytest.mark.compiled
@pytest.mark.parametrize("spec", [*registered(), *VARIANTS])
def test_a_learner_computes_the_same_bits_interpreted_and_compiled(spec: str) -> None:
    """Weights, plays and states of many rounds with late, lost and withdrawn losses.

    2,000 rounds for the core and with BELATED_THOROUGH=1, and 500 for the rest.
    """
    is_long = spec in FAMILIES or "BELATED_THOROUGH" in os.environ
    form = [] if is_long else ["--short"]
    with started(spec, INTERPRETED, *form) as plain, started(spec, COMPILED, *form) as compiled:
        interpreted, expected = digests(plain), digests(compiled)
    assert interpreted.keys() == expected.keys()
    assert [at for at in expected if interpreted[at] != expected[at]][:1] == []
