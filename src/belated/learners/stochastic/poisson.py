"""The upper confidence bound of a mean, from the divergence between Poisson distributions."""

import math

from belated.compiled.kernels import compiled

MOST_STEPS = 60
CLOSE = 1e-15


@compiled
def poisson_upper(mean: float, level: float) -> float:
    """Return the largest q with q - p + p ln(p/q) <= level, for a mean p.

    With q = p (1 + x) the equation is x - ln(1 + x) = level/p, whose left side is convex and
    increasing. Newton's method starts where x^2 / (2 (1 + x)), which is smaller than the left side,
    equals level/p; this is to the right of the solution, and the steps come down to it.
    """
    if mean <= 0.0:
        return level
    target = level / mean
    if not target < math.inf:
        return mean + level
    x = target + math.sqrt(target * (target + 2.0))
    for _ in range(MOST_STEPS):
        if x <= 0.0:
            break
        step = (x - math.log1p(x) - target) * (1.0 + x) / x
        x -= step
        if step <= CLOSE * x:
            break
    return mean * (1.0 + max(x, 0.0))
