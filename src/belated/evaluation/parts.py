"""The value of a policy in parts of a log: by stratum, or in stretches of equal length."""

from collections.abc import Sequence

import numpy as np

from belated.arrays import Floats
from belated.evaluation.estimators import Terms
from belated.evaluation.intervals import Interval, normal_interval
from belated.evaluation.logs.journal import Journal
from belated.evaluation.result import Part, interval_in_units

STRETCHES = 8
MOST_PARTS = 12
LEAST_ROWS = 20  # in a part


def parts_of(
    journal: Journal,
    terms: Terms,
    strata: Sequence[str] | None,
    weights: Floats,
    level: float,
) -> list[Part]:
    """Return the value in each part that has enough rows; the largest parts if there are many.

    `weights` says how much each row counts.
    """
    labels = _stretches(journal) if strata is None else list(strata)
    names, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    shown = np.argsort(-sizes, kind="stable")[:MOST_PARTS]
    found = []
    for code in sorted(shown.tolist()):
        counts = np.where(codes == code, weights, 0.0)
        if np.count_nonzero(counts) < LEAST_ROWS or not np.isfinite(terms.value(counts)):
            continue
        value = float(terms.value(counts))
        low, high = interval_in_units(journal.units, normal_interval(terms, counts, level))
        middle, _ = interval_in_units(journal.units, Interval(value, value))
        found.append(Part(str(names[code]), int(sizes[code]), middle, low, high))
    return found


def _stretches(journal: Journal) -> list[str]:
    """Return which stretch of the log each row is in, as a label that sorts by time."""
    places = np.arange(len(journal)) * STRETCHES // max(len(journal), 1)
    return [f"{place + 1} of {STRETCHES}" for place in places.tolist()]
