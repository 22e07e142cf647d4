"""Kernels as plain Python runs them, as silent as compiled code; and compiled code that is kept."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from belated.compiled.jit import _interpreted

KERNELS = """
from belated.compiled.jit import compiled

@compiled
def filled(values, value):
    for i in range(values.shape[0]):
        values[i] = value
    return values[0]

@compiled
def least(values):
    return values.min()
"""
USE = """
import sys, numpy, mine
print(mine.filled(numpy.zeros(3), 2.0), "numba.np.arraymath" in sys.modules)
print(mine.least(numpy.array([3.0, 1.0])) if sys.argv[1] == "both" else "")
"""


@_interpreted
def inverse(value: np.float64) -> np.float64:
    """1/value; infinite at zero."""
    return np.float64(1.0) / value


@_interpreted
def inverse_beside(value: np.float64, wrong: bool) -> np.float64:
    """The same by another kernel, before or after something goes wrong."""
    result = inverse(value) + np.float64(1.0) / value
    if wrong:
        raise ArithmeticError("it went wrong")
    return result


def test_a_kernel_in_plain_python_divides_by_zero_in_silence() -> None:
    """Also after it has called another one; and whoever called it is warned as before."""
    zero = np.float64(0.0)
    for _ in range(2):
        assert inverse_beside(zero, False) == np.inf
        with pytest.raises(ArithmeticError):
            inverse_beside(zero, True)
        with pytest.raises(RuntimeWarning):
            np.float64(1.0) / zero


def used(folder: Path, which: str) -> list[str]:
    """What a new process prints that uses one of the kernels, or both."""
    environment = {**os.environ, "BELATED_CACHE_DIR": str(folder), "PYTHONPATH": str(folder)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    command = [sys.executable, "-c", USE, which]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_kept_code_runs_without_what_only_compiling_needs(tmp_path: Path) -> None:
    """And whatever is compiled after it was loaded is compiled as ever."""
    (tmp_path / "mine.py").write_text(KERNELS)
    assert used(tmp_path, "one") == ["2.0", "True"]
    assert used(tmp_path, "one") == ["2.0", "False"]
    assert used(tmp_path, "both") == ["2.0", "False", "1.0"]
    assert used(tmp_path, "both") == ["2.0", "False", "1.0"]
