"""The bootstrap: rows drawn again, the laws of delays fitted again, and the estimates made again.

Drawing rows with replacement is counting each of them 0, 1, 2, ... times, so nothing is copied:
laws and estimates take the counts. Of the intervals it is the one that covers the error of the
laws.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from belated.arrays import Floats
from belated.evaluation.intervals import LEVEL, NO_INTERVAL, Interval

DRAWS = 1000
CHUNK = 500_000  # counts in memory at once

Progress = Callable[[int, int], None]


def drawn_counts(rows: int, draws: int, random: np.random.Generator) -> Iterator[Floats]:
    """Yield how often each row is drawn, several draws at a time: (draw, row)."""
    at_once = max(1, min(draws, CHUNK // rows))
    for start in range(0, draws, at_once):
        count = min(at_once, draws - start)
        places = random.integers(0, rows, (count, rows)) + rows * np.arange(count)[:, None]
        found = np.bincount(places.ravel(), minlength=count * rows)
        yield found.reshape(count, rows).astype(np.float64)


def percentile_interval(draws: Sequence[float] | Floats, level: float = LEVEL) -> Interval:
    """Return the interval that leaves out the same share of the draws on both sides.

    Its ends are the order statistics k = p (n + 1), below which a further draw falls with the
    chance p, also if there are few draws.
    """
    found = np.asarray(draws, dtype=np.float64)
    found = found[np.isfinite(found)]
    if found.size < 2:
        return NO_INTERVAL
    tails = [0.5 - level / 2.0, 0.5 + level / 2.0]
    low, high = np.quantile(found, tails, method="weibull")
    return Interval(float(low), float(high))
