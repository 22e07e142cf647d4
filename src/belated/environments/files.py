"""Users' own data: an environment from a file or from arrays.

A file is a table with the columns round, arm, either loss or reward, and either delay or arrival.
It has a row for each round and arm, and rounds run from 1 without a gap. `arrival` is the round at
whose end the loss is known; an empty delay or arrival means that it is never known. Losses and
rewards are in [0, 1], or in a range that is given with the file. Further columns may be features,
which have the same value in all rows of a round: together they are its context.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belated.arrays import Counts, Floats
from belated.checks import LossRange, as_range
from belated.environments.environment import Environment
from belated.environments.feature_columns import (
    FeatureColumn,
    checked_features,
    contexts_of_rounds,
    given_contexts,
    plain_values,
)
from belated.environments.in_memory import UNIT_RANGE, GivenDelays, GivenLosses
from belated.table_files import (
    REWARD,
    UNIT_LOSS,
    Batch,
    check_readable,
    columns_batch,
    duplicate,
    errors_naming,
    frame_columns,
    in_range,
    kind_of,
    place_in,
    read_batches,
)


def environment_from_arrays(
    losses: ArrayLike,
    delays: ArrayLike,
    labels: Sequence[str] = (),
    name: str = "given",
    loss_range: Sequence[float] = (0.0, 1.0),
    contexts: Any = None,
) -> Environment:
    """Return an environment whose only game is given by arrays.

    Args:
        losses: a row for each round and a column for each arm.
        delays: in the same form; NaN, infinity or -1 means never.
        labels: the names of the arms.
        name: the name in tables and reports.
        loss_range: the range (low, high) of the losses.
        contexts: what is known of each round before an arm is chosen: a dict or a row of values for
            each round. Numbers are used as they are. Text becomes a feature name=value for each of
            its values.
    """
    given_losses = GivenLosses(np.asarray(losses), as_range(loss_range))
    given_delays = GivenDelays(np.asarray(delays))
    shapes = given_losses.values.shape, given_delays.values.shape
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"losses have the shape {shapes[0]} and delays {shapes[1]}; they must have the same"
        )
    rounds = shapes[0][0]
    known = None if contexts is None else given_contexts(contexts, rounds)
    return Environment(
        name, given_losses, given_delays, rounds, labels, loss_range=loss_range, contexts=known
    )


def environment_from_file(
    path: str | Path,
    loss_range: Sequence[float] | None = None,
    features: Sequence[str] = (),
) -> Environment:
    """Return an environment whose only game is in a CSV or Parquet file.

    The file has the columns round, arm, loss (or reward) and delay (or arrival). Arms are in the
    order in which they appear.

    Args:
        path: the file.
        loss_range: the range (low, high) of the losses or rewards; [0, 1] by default.
        features: columns that are known before an arm is chosen, with the same value in all rows of
            a round. Numbers are used as they are. Text becomes a feature name=value for each of its
            values.
    """
    path, features = Path(path), checked_features(features)
    check_readable(path)
    with errors_naming(path):
        batches = read_batches(path, *_columns(features), optional=(UNIT_LOSS,))
        name = path.name[: -len(kind_of(path))]
        return _environment(batches, name, loss_range, features, place_in(path))


def environment_from_frame(
    frame: Any,
    loss_range: Sequence[float] | None = None,
    features: Sequence[str] = (),
    name: str = "frame",
) -> Environment:
    """Return an environment whose only game is in a DataFrame, with the columns of a data file.

    `frame` is a DataFrame of pandas or polars, an Arrow table, or a dict of columns. The other
    arguments are those of `environment_from_file`.
    """
    features = checked_features(features)
    columns = frame_columns(frame)
    return _environment(
        [columns_batch(columns, *_columns(features), optional=(UNIT_LOSS,))],
        name,
        loss_range,
        features,
        place="row",
    )


def _columns(features: Sequence[str]) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The columns that a table must have, and the choices of which it must have one."""
    return ("round", "arm", *features), (("loss", REWARD), ("delay", "arrival"))


def _environment(
    batches: Iterable[Batch],
    name: str,
    loss_range: Sequence[float] | None,
    features: Sequence[str],
    place: str,
) -> Environment:
    """An environment from the rows of a table, whose places are counted in this unit."""
    units = None if loss_range is None else as_range(loss_range)
    names: dict[str, int] = {}
    cells: dict[str, list[Any]] = {feature: [] for feature in features}
    parts = list(_read(batches, names, units, cells))
    if not parts or not names:
        raise ValueError("there are no rows; there must be one for each round and arm")
    rows = _Rows(*map(np.concatenate, zip(*parts, strict=True)))
    order = _in_order(rows, list(names), place)
    shape = (-1, len(names))
    losses, delays = rows.losses[order].reshape(shape), rows.delays[order].reshape(shape)
    contexts = _contexts(cells, order, rows.places, len(names), place)
    given = loss_range or (0.0, 1.0)
    return environment_from_arrays(losses, delays, list(names), name, given, contexts)


class _Rows(NamedTuple):
    """Checked rows: round from 1, arm by number, loss, delay (NaN for never), place in the file."""

    rounds: Counts
    arms: Counts
    losses: Floats
    delays: Floats
    places: Counts


def _read(
    batches: Iterable[Batch],
    names: dict[str, int],
    units: LossRange | None,
    cells: dict[str, list[Any]],
) -> Iterator[_Rows]:
    """The rows of a table; `names` is filled with the number of each arm, `cells` by column."""
    for batch in batches:
        rounds = batch.rounds()
        unit = units is None and UNIT_LOSS in batch.columns
        losses = batch.losses() if unit else batch.losses_within(units or UNIT_RANGE)
        arms = [names.setdefault(label, len(names)) for label in batch.labels()]
        places = np.array(batch.places)
        for name, column in cells.items():
            column.extend(batch.columns[name])
        yield _Rows(rounds.astype(np.int64), np.array(arms), losses, _delays(batch, rounds), places)


def _delays(batch: Batch, rounds: Floats) -> Floats:
    """The delays of a batch, NaN for never."""
    if "arrival" in batch.columns:
        return batch.arrivals(rounds) - rounds
    delays = batch.numbers("delay")
    rule = "must be a whole number, at least 0, or empty for never"
    return batch.checked("delay", delays, in_range(delays, 0.0) | np.isnan(delays), rule)


def _contexts(
    cells: dict[str, list[Any]], order: NDArray[np.intp], places: Counts, arms: int, place: str
) -> list[dict[str, Any]] | None:
    """The contexts of the rounds, from columns of a file; None if there are no such columns."""
    columns = []
    for name, column in cells.items():
        values = plain_values(column, as_text=place == "line")
        columns.append(FeatureColumn(name, [values[row] for row in order.tolist()]))
    return contexts_of_rounds(columns, arms, place, places[order].tolist()) if columns else None


def _in_order(rows: _Rows, labels: list[str], place: str) -> NDArray[np.intp]:
    """The order that sorts the rows by round and arm, if each pair is there exactly once."""
    present = np.unique(rows.rounds)
    absent = np.flatnonzero(present != np.arange(1, present.size + 1))
    if absent.size:
        raise ValueError(f"round {absent[0] + 1} has no row; rounds must run from 1 without a gap")
    pairs = (rows.rounds - 1) * len(labels) + rows.arms
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    again = np.flatnonzero(pairs[1:] == pairs[:-1])
    if again.size:
        first, second = rows.places[order[again[0] : again[0] + 2]]
        round_, arm = divmod(int(pairs[again[0]]), len(labels))
        raise duplicate(round_ + 1, labels[arm], place, first, second)
    holes = np.flatnonzero(pairs != np.arange(pairs.size))
    hole = int(holes[0]) if holes.size else pairs.size
    if hole < present.size * len(labels):
        if pairs.size == present.size:
            raise ValueError(
                "every round has the row of one arm, as in a log of decisions, which `belated "
                "replay` takes; here every round must have a row for each arm"
            )
        round_, arm = divmod(hole, len(labels))
        raise ValueError(
            f"round {round_ + 1} has no row for arm {labels[arm]!r}; every round must have one for "
            "each arm"
        )
    return order
