"""Importance weighting: the probability by which the loss of a play is divided."""

from belated.compiled.kernels import compiled

LEAST = 1e-100


@compiled
def divisor(q: float) -> float:
    """The probability q of a play, or 1e-100 if q is smaller.

    No arm of so small a probability is ever drawn. But a replay can prescribe such a play, and
    without the limit it would divide by zero.
    """
    return max(q, LEAST)
