"""Policies as tables: the probability of each arm in each row of a journal.

A policy is the name of an arm, "uniform", "logged", "best-arm", a table of probabilities, or a
function of the context that returns an arm or probabilities by arm. It may also be a classifier
with `predict_proba` as those of scikit-learn, or a bandit of this library, whose present weights
are taken, in each row's context if it takes contexts.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.evaluation.logs.journal import Journal
from belated.features.flattening import flattened, shortened
from belated.learners.contextual.contextual_learner import ContextualLearner
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
        table = _classified(policy, journal, name)
    elif hasattr(policy, "weights") and hasattr(policy, "tell"):
        table = _frozen(policy, journal, name)
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


def _classified(policy: Any, journal: Journal, name: str) -> Floats:
    """Return what a classifier says of the contexts; its classes are arms."""
    try:
        found = np.asarray(policy.predict_proba(_features(policy, journal)), dtype=np.float64)
    except Exception as error:  # whatever the user's classifier raises
        raise ValueError(f"policy {name!r} cannot classify the contexts: {_said(error)}") from error
    classes = [str(each) for each in policy.classes_]
    odd = [each for each in classes if each not in journal.arms]
    if odd:
        raise ValueError(f"the classifier has the class {odd[0]!r}, which is no arm of the log")
    if found.shape != (len(journal), len(classes)):
        raise ValueError(
            f"policy {name!r} answers in the shape {found.shape}; it must be "
            f"{(len(journal), len(classes))}, rows and classes"
        )
    table = np.zeros((len(journal), len(journal.arms)))
    table[:, [journal.arms.index(each) for each in classes]] = found
    return table


def _features(policy: Any, journal: Journal) -> Any:
    """Return the contexts as a classifier has learned them: a table by name, or a row of numbers.

    One that was fitted to a DataFrame has the names of its columns. For others the columns are
    the names of the contexts, in the order in which they first appear, as numbers if all are.
    """
    rows = [dict(flattened(context)) for context in journal.context_rows]
    names = getattr(policy, "feature_names_in_", None)
    if names is None:
        order = list(dict.fromkeys(name for row in rows for name in row))
        table = np.array([[row.get(name) for name in order] for row in rows], dtype=object)
        try:
            return table.astype(np.float64)
        except ValueError:  # there is text in it
            return table
    known = {name for row in rows for name in row}
    for name in names:
        if str(name) not in known:
            raise ValueError(f"it was fitted to the column {name!r}, which no context has")
    import pandas

    return pandas.DataFrame(rows, columns=[str(each) for each in names])


def _frozen(policy: Any, journal: Journal, name: str) -> Floats:
    """Return the present weights of a bandit, in each row's context if it takes contexts."""
    if not issubclass(getattr(policy, "kind", object), ContextualLearner):
        return _rows_of(policy.weights(), journal, name)
    return _called(lambda context: policy.weights(context=context), journal, name)


def _rows_of(weights: Mapping[Any, float], journal: Journal, name: str) -> Floats:
    """Return the same probabilities in each row."""
    row = _row(weights, journal, name, 1)
    return np.tile(row, (len(journal), 1))


def _called(policy: Callable[[Any], Any], journal: Journal, name: str) -> Floats:
    """Return what a function says of each context."""
    rows = []
    for number, context in enumerate(journal.context_rows, 1):
        try:
            said = policy(dict(context))
        except Exception as error:  # whatever the user's function raises
            given = "" if journal.contexts is not None else "; the log has no column context"
            raise ValueError(
                f"policy {name!r} fails in row {number}: {_said(error)}{given}"
            ) from error
        rows.append(_row(said, journal, name, number))
    return np.stack(rows)


def _said(error: Exception) -> str:
    """Return an error of the user's code in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _row(said: Any, journal: Journal, name: str, number: int) -> Floats:
    """Return an answer of a policy, an arm or probabilities by arm, as those of all arms."""
    row = np.zeros(len(journal.arms))
    shares = said if isinstance(said, Mapping) else {str(said): 1.0}
    for arm, share in shares.items():
        if str(arm) not in journal.arms:
            raise ValueError(
                f"policy {name!r} answers {shortened(said)} in row {number}; it must be an arm or "
                f"a dict of probabilities by arm, and the arms are {listed(journal.arms, arm)}"
            )
        try:
            row[journal.arms.index(str(arm))] += float(share)
        except (TypeError, ValueError):
            row[:] = np.nan
    if not (row >= 0.0).all() or abs(row.sum() - 1.0) > NEAR_ONE:
        raise ValueError(
            f"policy {name!r} answers {shortened(said)} in row {number}; probabilities must be "
            "numbers of at least 0 and have the sum 1"
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
