"""Following plays by their ages: what the laws of silence of several learners share.

A play is looked at when its age doubles, so that a round looks at a handful of plays and needs no
calendar. These are the plays whose ages are 2, 4, 8, ... at the start of the next round. Bin j has
the ages from 2^j to 2^(j+1) - 1; a loss with delay d comes at the age d + 1.
"""

import numpy as np

from belated.arrays import Counts
from belated.compiled.kernels import compiled

BINS = 14
LAST = BINS - 1
SHARED = 10.0  # how many plays of all arms the delays of one arm are mixed with
ONE_SIDED = 10.0  # so many reports that are all equal ask what silence means
LEAST_CHANCE = 0.01  # the least chance that a play is of the silent kind, or of the other
SILENT, ENDED = -1, -2  # instead of the bin in which a followed play was told
NO_MEANING = -1.0  # instead of the loss that silence means


@compiled
def age_bin(age: float, last: int) -> int:
    """Return the bin of an age: floor(log2 age), or the last bin; 0 for ages below 2."""
    found, left = 0, 1.0 * age
    while left >= 2.0 and found < last:
        left *= 0.5
        found += 1
    return found


def grown_to(rounds: int, size: int, most: int) -> int:
    """How many rounds to follow: `size` doubled until it exceeds `rounds`, but not above `most`."""
    while size <= rounds and size < most:
        size *= 2
    return size


def places_after(arms: Counts, kept: list[int]) -> Counts:
    """The places that followed arms have when only these are kept; 0 for all others."""
    places = {arm: place for place, arm in enumerate(kept)}
    return np.array([places.get(int(arm), 0) for arm in arms], dtype=np.int64)
