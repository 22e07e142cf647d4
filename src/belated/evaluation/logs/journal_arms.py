"""The arms of a log: their names, with which probabilities, and when they could be chosen."""

from collections.abc import Mapping, Sequence

import numpy as np

from belated.arrays import Counts, Floats
from belated.evaluation.logs.journal_columns import outcomes_of, rounds_of
from belated.table_files import Batch, Mask

NEAR_ONE = 1e-6  # how far the logged probabilities of all arms may be from a sum of 1


def arm_names(
    batch: Batch, labels: Sequence[str], arms: Sequence[str], changes: Batch
) -> tuple[str, ...]:
    """All arms: those given, those chosen, and those that a row names beside."""
    found = dict.fromkeys([*map(str, arms), *labels, *map(str, changes.columns["arm"])])
    for name, kind in (("probabilities", dict), ("arms", list)):
        for each in batch.objects(name, kind) or ():
            found |= dict.fromkeys(map(str, each or ()))
    return tuple(found)


def probability_of(batch: Batch) -> Floats:
    """The logged probability of each row's arm; NaN where there is none."""
    if "probability" not in batch.columns:
        return np.full(len(batch.places), np.nan)
    values = batch.numbers("probability")
    fine = (values >= 0.0) & (values <= 1.0) | np.isnan(values)
    return batch.checked("probability", values, fine, "must be from 0 to 1")


def weights_of(batch: Batch) -> Floats:
    if "weight" not in batch.columns:
        return np.ones(len(batch.places))
    values = batch.numbers("weight")
    fine = np.isfinite(values) & (values > 0.0)
    return batch.checked("weight", values, fine, "must be above 0")


def all_probabilities(batch: Batch, index: Mapping[str, int], order: Counts) -> Floats | None:
    """The logged probabilities of all arms, if every row has them."""
    found = batch.objects("probabilities", dict)
    if found is None or any(each is None for each in found):
        return None
    table = np.zeros((len(found), len(index)))
    for row, each in enumerate(found):
        for arm, share in each.items():
            table[row, index[str(arm)]] = float(share)
    wrong = np.abs(table.sum(axis=1) - 1.0) > NEAR_ONE
    if wrong.any():
        batch.refuse("probabilities", wrong, "must have the sum 1")
    return table[order]


def allowed(
    batch: Batch, changes: Batch, index: Mapping[str, int], rounds: Floats, order: Counts
) -> Mask | None:
    """Which arms could be chosen in each row; None if all could everywhere."""
    lists = batch.objects("arms", list)
    if not changes.places and lists is None:
        return None
    allowed = np.ones((len(rounds), len(index)), dtype=bool)
    added = [k for k, kind in enumerate(outcomes_of(changes)) if kind == "added"]
    events = changes.numbers("event") if "event" in changes.columns else rounds_of(changes)
    since = changes.numbers("round") if "round" in changes.columns else events
    seen: set[str] = set()
    for k in np.argsort(events, kind="stable"):  # an arm is there until an event says otherwise
        arm = str(changes.columns["arm"][k])
        if k in added and arm not in seen:
            allowed[rounds <= since[k], index[arm]] = False
        allowed[rounds > since[k], index[arm]] = k in added
        seen.add(arm)
    for row, names in enumerate(lists or ()):
        if names is not None:
            allowed[row] &= np.isin(list(index), [str(name) for name in names])
    return allowed[order]
