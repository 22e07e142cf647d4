"""What all solvers for the multiplier c of the constraint sum q = 1 share.

Every weight q_i(c), and so their sum S(c), is increasing and log-convex in c. Newton on ln S from
the right of the root moves left and never passes it; from the left it lands on the right, at most
at `ceiling`, beyond which the closed forms would overflow. Whatever rounding does, the step stays
inside the bracket.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.jit import compiled, compiled_apart

MOST_STEPS = 200
EXACT = 1e-15
SMALL = 1e-11
NOT_FOUND = "the multiplier of the simplex was not found"
COARSE = 1e4  # rate times |c| above which the last digit of c shows in the twelfth of a weight


@compiled
def exhausted(excess: float, previous: float) -> bool:
    """Whether excess = S - 1 is down to rounding: Newton would else have shrunk it further."""
    return abs(excess) <= EXACT or (abs(excess) <= SMALL and abs(excess) >= 0.5 * abs(previous))


@compiled
def settled(before: float, after: float) -> bool:
    """Whether a step was too small to change anything but the last digits."""
    return abs(after - before) <= 4e-16 * abs(after)


@compiled
def newton_step(
    c: float, total: float, slope: float, low: float, high: float, ceiling: float
) -> tuple[float, float, float]:
    """The next c, given S = total and its slope at c, and the tightened bracket."""
    if total > 1.0:
        high = c
    else:
        low = c
    following = ceiling if total == 0.0 else min(c - math.log(total) * total / slope, ceiling)
    if following <= low or (following >= high and high < ceiling):
        following = 0.5 * (low + high)
    return following, low, high


class MultiplierSearch(NamedTuple):
    """Where c is sought: the last c, the bracket, and S - 1 at the last c that was tried."""

    c: float
    low: float
    high: float
    ceiling: float
    excess: float


@compiled
def begin_search(guess: float, low: float, ceiling: float) -> MultiplierSearch:
    """The search from a guess; nothing has been tried yet."""
    return MultiplierSearch(max(low, min(guess, ceiling)), low, ceiling, ceiling, np.inf)


@compiled
def advance(search: MultiplierSearch, total: float, slope: float) -> tuple[MultiplierSearch, bool]:
    """The search after c was tried, where S = total with this slope; and whether it is over."""
    excess = total - 1.0
    if exhausted(excess, search.excess):
        return search, True
    c, low, high = newton_step(search.c, total, slope, search.low, search.high, search.ceiling)
    return MultiplierSearch(c, low, high, search.ceiling, excess), settled(search.c, c)


@compiled_apart
def finer_anchor(losses: Floats, rates: Floats, c: float, anchor: float) -> float:
    """The loss from which c should be measured so that its rounding shows in no weight.

    A weight moves by rate times the error of c - L. Measured from the smallest loss, c may be large
    where slow rates rule, and then its last digit matters to a fast coordinate: measure from the
    loss nearest to c. The answer is `anchor` if it will do, or if no loss is much nearer.
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
    """Divide by the sum, added up with its rounding errors (Kahan): they grow with many arms."""
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
