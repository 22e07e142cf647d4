"""Contexts of users' own data: feature columns of a file, or a context for each round."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from belated.checks import in_order
from belated.environments.contextual.drawn_contexts import GivenContexts
from belated.features.flattening import shortened
from belated.features.tables import table_of

AFTERWARDS = ("arm", "loss", "unit_loss", "delay", "arrival")  # not known before an arm is chosen


class FeatureColumn(NamedTuple):
    """A column of a file: its name, and its value in each row, sorted by round and arm."""

    name: str
    values: Sequence[Any]


def checked_features(features: Sequence[str]) -> list[str]:
    """The names of feature columns, each of them once, and none of what comes after the choice."""
    names = in_order(features)
    if names is None or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"features is {shortened(features)}; it must be a list of column names")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"features names {name!r} twice; each column may be there once")
        if name in AFTERWARDS:
            raise ValueError(
                f"features names {name!r}, which is not known before an arm is chosen; a feature "
                "must be"
            )
    return list(names)


def given_contexts(contexts: Any, rounds: int) -> GivenContexts:
    """Contexts given one for each round, as dicts or sequences, or as the rows of a table."""
    is_table = isinstance(contexts, np.ndarray) and contexts.ndim == 2
    rows = contexts.tolist() if is_table else in_order(contexts)
    if rows is None:
        raise ValueError(
            f"contexts is {shortened(contexts)}; it must have a dict or a row of values for each "
            "round"
        )
    if len(rows) != rounds:
        raise ValueError(f"contexts has {len(rows)} rows; there must be one for each of {rounds}")
    table = table_of(rows, "round")
    return GivenContexts(table.values, table.names)


def contexts_of_rounds(
    columns: Sequence[FeatureColumn], arms: int, place: str, places: Sequence[int]
) -> list[dict[str, Any]]:
    """The context of each round of a file: what its rows, one for each arm, have in common.

    Places are those of the rows in the file, which are counted in this unit, as in errors.
    """
    found: list[dict[str, Any]] = [{} for _ in range(len(places) // arms)]
    for name, values in columns:
        for row, value in enumerate(values):
            context = found[row // arms]
            if not _same(context.setdefault(name, value), value):
                raise ValueError(
                    f"round {row // arms + 1} has two values of {name!r}, "
                    f"{shortened(context[name])} in {place} {places[row - row % arms]} and "
                    f"{shortened(value)} in {place} {places[row]}; all rows of a round must have "
                    "the same"
                )
    return found


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal, or both NaN, which is refused elsewhere."""
    return bool(one == other or (one != one and other != other))


def plain_values(cells: Sequence[Any], as_text: bool) -> list[Any]:
    """The values of a column, None where it is empty; text cells that are all numbers are these."""
    values = [_without_space(cell) for cell in cells]
    if not as_text:
        return values
    try:
        return [None if value is None else float(value) for value in values]
    except ValueError:
        return values


def _without_space(cell: Any) -> Any:
    if isinstance(cell, str):
        return cell.strip() or None
    return None if isinstance(cell, float) and math.isnan(cell) else cell
