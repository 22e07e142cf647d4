"""Kernels and their marks: plain Python until something is compiled, and as silent as compiled."""

import subprocess
import sys

import numpy as np
import pytest

from belated.compiled.kernels import Kernel, compiled, interpreted, kernel_of


def inverse(value: np.float64) -> np.float64:
    """1/value; infinite at zero."""
    return np.float64(1.0) / value


def test_an_interpreted_kernel_divides_by_zero_in_silence() -> None:
    """Also after an error; and whoever called it is warned as before."""
    zero = np.float64(0.0)

    def fails() -> None:
        inverse(zero)
        raise ArithmeticError("it went wrong")

    for _ in range(2):
        assert interpreted(Kernel(inverse, {}))(zero) == np.inf
        with pytest.raises(ArithmeticError):
            interpreted(Kernel(fails, {}))()
        with pytest.raises(RuntimeWarning):
            inverse(zero)


def test_a_decorator_only_marks_a_kernel() -> None:
    """The mark has the plain function, whatever is called by its name."""

    def plain(x: float) -> float:
        return x

    kernel = kernel_of(compiled(plain))
    assert kernel is not None
    assert kernel.function is plain
    assert kernel_of(inverse) is None


@pytest.mark.parametrize("given", ["later", ""])
def test_a_wrong_mode_is_refused_in_one_sentence(given: str) -> None:
    """The value and the rule."""
    code = f"import os; os.environ['BELATED_COMPILE'] = {given!r}; "
    code += "from belated.compiled.kernels import compile_mode; compile_mode()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    said = run.stderr.strip().splitlines()[-1]
    rule = "it must be 'background', 'wait' or 'never'"
    assert said == f"ValueError: BELATED_COMPILE is {given!r}; {rule}"
