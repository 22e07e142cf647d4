"""Newton's method inside a bracket for the multiplier c of the constraint sum q = 1.

Every weight q_i(c), and so their sum S(c), is increasing and log-convex in c. A Newton step on ln S
from the right of the root moves left and does not pass it; a step from the left ends right of it,
at most at `ceiling`, above which the closed forms would overflow. The bracket also holds under
rounding.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled, compiled_apart

MOST_STEPS = 200
EXACT = 1e-15
SMALL = 1e-11
NOT_FOUND = "the multiplier of the simplex was not found"
COARSE = 1e4  # rate times |c| above which rounding c changes the twelfth digit of a weight


@compiled
def exhausted(excess: float, previous: float) -> bool:
    """Whether excess = S - 1 is only rounding: it is tiny, or small and no longer shrinking."""
    return abs(excess) <= EXACT or (abs(excess) <= SMALL and abs(excess) >= 0.5 * abs(previous))


@compiled
def settled(before: float, after: float) -> bool:
    """Whether a step of c changed only its last digits."""
    return abs(after - before) <= 4e-16 * abs(after)


@compiled
def newton_step(
    c: float, total: float, slope: float, low: float, high: float, ceiling: float
) -> tuple[float, float, float]:
    """The next c and the tightened bracket (low, high), given S = total and its slope at c."""
    if total > 1.0:
        high = c
    else:
        low = c
    following = ceiling if total == 0.0 else min(c - math.log(total) * total / slope, ceiling)
    if following <= low or (following >= high and high < ceiling):
        following = 0.5 * (low + high)
    return following, low, high


class MultiplierSearch(NamedTuple):
    """A search for c: the next c to try, the bracket of the root, and S - 1 at the previous c."""

    c: float
    low: float
    high: float
    ceiling: float
    excess: float


@compiled
def begin_search(guess: float, low: float, ceiling: float) -> MultiplierSearch:
    """A new search that begins at the guess, moved into [low, ceiling]."""
    return MultiplierSearch(max(low, min(guess, ceiling)), low, ceiling, ceiling, np.inf)


@compiled
def advance(search: MultiplierSearch, total: float, slope: float) -> tuple[MultiplierSearch, bool]:
    """The search after evaluating S = total and its slope at search.c, and whether it is over."""
    excess = total - 1.0
    if exhausted(excess, search.excess):
        return search, True
    c, low, high = newton_step(search.c, total, slope, search.low, search.high, search.ceiling)
    return MultiplierSearch(c, low, high, search.ceiling, excess), settled(search.c, c)


@compiled_apart
def finer_anchor(losses: Floats, rates: Floats, c: float, anchor: float) -> float:
    """The loss to measure c from, so that the rounding of c does not change any weight.

    A weight changes by rate times the error of c - L. If c is measured from the smallest loss, it
    may be large where slow rates dominate, and its last digit then matters for fast rates. The
    result is the loss nearest to c, or `anchor` if that is accurate enough or no loss is much
    nearer to c.
    """
    if rates.max() * abs(c) <= COARSE:
        return anchor
    nearest = 0.5 * abs(c)
    finer = anchor
    for loss in losses.flat:
        distance = abs(loss - anchor - c)
        if distance < nearest:
            nearest = distance
            finer = loss
    return finer


@compiled_apart
def normalise(weights: Floats) -> None:
    """Divide the weights by their sum, which is compensated (Kahan) because there may be many."""
    total = 0.0
    lost = 0.0
    for weight in weights.flat:
        addend = weight - lost
        after = total + addend
        lost = (after - total) - addend
        total = after
    flat = weights.reshape(weights.size)
    for i in range(flat.shape[0]):
        flat[i] /= total
