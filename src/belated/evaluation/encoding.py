"""Contexts as rows of numbers for a linear model: numbers scaled, text one-hot, and a last 1.

Numbers are scaled to mean 0 and deviation 1 and cut at 4; one that is not there is the mean. All
coordinates but the last are divided by the square root of how many they are.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.features.tables import table_of

MOST_VALUES = 50  # different texts of one name; rarer ones count nowhere
MOST_COORDINATES = 500
CUT = 4.0


def encoded(contexts: Sequence[Mapping[str, Any]]) -> Floats:
    """Return a row of numbers for each context; the last is 1."""
    names, values, numbers = table_of(contexts, "row", MOST_COORDINATES, MOST_VALUES)
    ones = np.ones((len(values), 1))
    if not names:
        return ones
    varied = values.max(axis=0) > values.min(axis=0)
    spread = np.where(varied, values.std(axis=0), 1.0)
    scaled = np.clip((values - values.mean(axis=0)) / spread, -CUT, CUT)
    kept = np.where(numbers, scaled, values)[:, varied | ~numbers]
    return np.hstack([kept / np.sqrt(max(1, kept.shape[1])), ones])
