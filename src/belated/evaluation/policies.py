"""Policies as tables: the probability of each arm in each row of a journal.

A policy is the name of an arm, "uniform", "logged", "best-arm", a table of probabilities, or a
function of the context that returns an arm or probabilities by arm. It may also be a classifier
with `predict_proba` as those of scikit-learn, or a bandit of this library, whose present weights
are taken.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.evaluation.encoding import encoded
from belated.evaluation.logs.journal import Journal
from belated.specs import listed

LOGGED, UNIFORM, BEST_ARM = "logged", "uniform", "best-arm"
WORDS = (UNIFORM, BEST_ARM, LOGGED)
NEAR_ONE = 1e-6


def policy_table(policy: Any, journal: Journal, name: str) -> Floats:
    """Return the probability of each arm in each row: (row, arm); rows have the sum 1."""
    if isinstance(policy, str):
        table = _named(policy, journal)
    elif isinstance(policy, np.ndarray):
        table = np.asarray(policy, dtype=np.float64)
        if table.shape != (len(journal), len(journal.arms)):
            raise ValueError(
                f"policy {name!r} has the shape {table.shape}; it must be "
                f"{(len(journal), len(journal.arms))}, rows and arms"
            )
    elif hasattr(policy, "predict_proba"):
        table = _classified(policy, journal)
    elif hasattr(policy, "weights") and hasattr(policy, "tell"):
        table = _rows_of(policy.weights(), journal, name)
    elif callable(policy):
        table = _called(policy, journal, name)
    elif isinstance(policy, Mapping):
        table = _rows_of(policy, journal, name)
    else:
        table = _named(str(policy), journal)
    return _within_allowed(table, journal, name)


def _named(policy: str, journal: Journal) -> Floats:
    """Return the table of an arm, of uniform play, or of the arm that looks best."""
    shape = len(journal), len(journal.arms)
    arm = policy.removeprefix("arm:")
    if arm in journal.arms:
        table = np.zeros(shape)
        table[:, journal.arms.index(arm)] = 1.0
        return table
    if policy == UNIFORM:
        return np.full(shape, 1.0 / shape[1])
    if policy == BEST_ARM:
        return _best_arm(journal)
    known = [*WORDS, *journal.arms]
    raise ValueError(f"policy is {policy!r}; it must be one of {listed(known, policy)}")


def _best_arm(journal: Journal) -> Floats:
    """Return the arm with the best told mean; rows of one half use the mean of the other half.

    So the choice has not seen the rows on which it is judged.
    """
    table = np.zeros((len(journal), len(journal.arms)))
    halves = np.arange(len(journal)) % 2
    for half in (0, 1):
        means = [
            journal.rewards[(halves != half) & (journal.chosen == arm) & journal.told]
            for arm in range(len(journal.arms))
        ]
        best = int(np.argmax([each.mean() if each.size else -1.0 for each in means]))
        table[halves == half, best] = 1.0
    return table


def _classified(policy: Any, journal: Journal) -> Floats:
    """Return what a classifier says of the encoded contexts; its classes are arms."""
    found = np.asarray(policy.predict_proba(encoded(journal.context_rows)))
    classes = [str(each) for each in policy.classes_]
    odd = [each for each in classes if each not in journal.arms]
    if odd:
        raise ValueError(f"the classifier has the class {odd[0]!r}, which is no arm of the log")
    table = np.zeros((len(journal), len(journal.arms)))
    table[:, [journal.arms.index(each) for each in classes]] = found
    return table


def _rows_of(weights: Mapping[Any, float], journal: Journal, name: str) -> Floats:
    """Return the same probabilities in each row."""
    row = _row(weights, journal, name, 1)
    return np.tile(row, (len(journal), 1))


def _called(policy: Callable[[Any], Any], journal: Journal, name: str) -> Floats:
    """Return what a function says of each context."""
    return np.stack(
        [
            _row(policy(dict(context)), journal, name, number)
            for number, context in enumerate(journal.context_rows, 1)
        ]
    )


def _row(said: Any, journal: Journal, name: str, number: int) -> Floats:
    """Return an answer of a policy, an arm or probabilities by arm, as those of all arms."""
    row = np.zeros(len(journal.arms))
    shares = said if isinstance(said, Mapping) else {said: 1.0}
    for arm, share in shares.items():
        if str(arm) not in journal.arms:
            raise ValueError(
                f"policy {name!r} plays {arm!r} in row {number}; the arms are "
                f"{listed(journal.arms, arm)}"
            )
        row[journal.arms.index(str(arm))] += float(share)
    if not (row >= 0.0).all() or abs(row.sum() - 1.0) > NEAR_ONE:
        raise ValueError(
            f"policy {name!r} answers {said!r} in row {number}; probabilities must be at least 0 "
            "and have the sum 1"
        )
    return row


def _within_allowed(table: Floats, journal: Journal, name: str) -> Floats:
    """Return the table with arms that could not be chosen left out, and the others made up to 1."""
    sums = table.sum(axis=1)
    if not ((table >= 0.0).all() and (np.abs(sums - 1.0) <= NEAR_ONE).all()):
        raise ValueError(
            f"policy {name!r} has probabilities that are negative or have another sum than 1"
        )
    if journal.allowed is None:
        return table
    within = np.where(journal.allowed, table, 0.0)
    sums = within.sum(axis=1)
    if not (sums > 0.0).all():
        row = int(np.flatnonzero(sums <= 0.0)[0])
        raise ValueError(
            f"policy {name!r} plays only arms that could not be chosen in row {row + 1}; "
            "it must be able to choose among those that could"
        )
    shares: Floats = within / sums[:, None]
    return shares
