"""Kernels as plain Python runs them: as silent as compiled code."""

import numpy as np
import pytest

from belated.kernels.compile import _interpreted


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
