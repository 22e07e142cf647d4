"""Importance weighting: what the loss of a play is divided by."""

from belated.compiled.jit import compiled

LEAST = 1e-100


@compiled
def divisor(q: float) -> float:
    """q, the probability of the play, at least 1e-100.

    Nobody draws an arm of smaller probability; a replay that plays one all the same, again and
    again, would divide by zero.
    """
    return max(q, LEAST)
