"""Logs of decisions that another program made, read from CSV and Parquet files.

A log has the columns round, arm, probability, loss and arrival (the round at whose end the loss
was known; empty for never), and for the partially concealed learner also missing. A bandit's log
has one row per round, an experts' log one for each expert and round. A column outcome is optional:
a play that is "cancelled" there is withdrawn at its arrival and needs no loss. A row whose
outcome is "added" or "removed" says that its arm was added or removed after its round. A column
event orders what happened at the end of one round. A column context has what was known of each
round, for learners that take a context. A column
actions has the features of its arms, and the names in
a column probabilities are the arms that could be drawn; all hold JSON objects. Losses are in
[0, 1]; a log whose column loss is in other units has the same losses in [0, 1] in a column
unit_loss.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.table_files import (
    UNIT_LOSS,
    Batch,
    Mask,
    check_readable,
    duplicate,
    errors_naming,
    in_range,
    place_in,
    read_batches,
)
from belated.types import Setting

REQUIRED = ("round", "arm", "loss", "arrival")
OPTIONAL = (
    "probability", "missing", "outcome", "event", UNIT_LOSS, "context", "actions", "probabilities",
    "decided_at", "told_at",
)  # fmt: skip
NO_COUNT = -1  # the missing count of a row that has none


@dataclass(frozen=True)
class LogRow:
    """One checked row of a log.

    `arm` is the index of the arm's name, and `place` is the number of the row or line in the file.
    `context` is what was known of the round, and `actions` of its arms; `among` names those that
    could be drawn.
    `decided_at` and `told_at` are times in seconds, NaN where the log has none.
    """

    round: int
    arm: int
    probability: float
    loss: float
    arrival: int | None
    missing: int
    withdrawn: bool
    event: int
    place: int
    context: Mapping[str, Any] | None = None
    actions: Mapping[str, Any] | None = None
    among: frozenset[str] | None = None
    decided_at: float = math.nan
    told_at: float = math.nan


@dataclass
class ArmChange:
    """Arms, by the index of their names, that were removed and added after a round."""

    round: int
    event: int
    removed: list[int] = field(default_factory=list)
    added: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Log:
    """All rows in order of their rounds, which run from 1 without a gap.

    `arms` names all arms that ever existed, `first` says with which of them the log began.
    """

    arms: tuple[str, ...]
    rounds: list[list[LogRow]]
    first: tuple[int, ...]
    changes: tuple[ArmChange, ...] = ()

    def most_outstanding(self) -> int:
        """The largest number of outstanding plays of one arm at the start of a round."""
        changes = np.zeros((len(self.rounds) + 2, len(self.arms)), dtype=np.int64)
        for row in (row for rows in self.rounds for row in rows):
            after = row.arrival if row.arrival is not None else len(self.rounds)
            changes[row.round + 1, row.arm] += 1
            changes[min(after, len(self.rounds)) + 1, row.arm] -= 1
        return int(np.cumsum(changes, axis=0)[: len(self.rounds) + 1].max())

    def most_missing(self) -> int:
        """The largest missing count in the log."""
        return max(row.missing for rows in self.rounds for row in rows)


def read_log(path: Path, setting: Setting, arms: Sequence[str] = ()) -> Log:
    """Read a log from a CSV or Parquet file; if arms are given, the log must have no others.

    Without them the arms are those of the log, in the order in which they appear.
    """
    check_readable(path)
    for arm in arms:
        if arms.count(arm) > 1:
            raise ValueError(f"arm {arm!r} is named twice; each must be named once")
    required = [*REQUIRED]
    if setting is not Setting.FULL_INFORMATION:
        required.append("probability")
    if setting is Setting.PARTIALLY_CONCEALED:
        required.append("missing")
    reader = _LogReader({arm: place for place, arm in enumerate(arms)}, required)
    with errors_naming(path):
        for batch in read_batches(path, required, optional=OPTIONAL):
            reader.add(batch)
        if not reader.rows:
            raise ValueError("there are no rows; a log must have at least one")
        began = [name for name, arm in reader.names.items() if arm not in reader.new]
        unknown = [name for name in began if arms and name not in arms]
        if unknown:
            raise ValueError(f"arm {unknown[0]!r} is in the log; it must be among the given arms")
        return reader.log(setting, place_in(path))


class _LogReader:
    """Collects the rows of a log and the changes of arms in it, batch by batch."""

    def __init__(self, names: dict[str, int], required: Sequence[str]) -> None:
        self.names = names
        self.required = required
        self.rows: list[LogRow] = []
        self.changes: dict[int, ArmChange] = {}
        self.new: set[int] = set()  # arms that the log did not begin with

    def add(self, batch: Batch) -> None:
        """Check the rows of a batch and keep them."""
        outcomes = batch.columns.get("outcome", [""] * len(batch.places))
        changed = np.array([outcome in ("added", "removed") for outcome in outcomes])
        withdrawn = np.array([outcome == "cancelled" for outcome in outcomes])
        rounds = batch.rounds(least=np.where(changed, 0.0, 1.0))
        arrivals = batch.arrivals(rounds)
        told = ~(np.isnan(arrivals) | withdrawn | changed)  # rows whose loss is learned
        losses = np.nan_to_num(batch.losses(optional=~told))
        probabilities = self._probabilities(batch, changed)
        missing = self._missing(batch, rounds, told)
        events = _events(batch, changed)
        nothing: list[Any] = [None] * len(batch.places)
        contexts = batch.objects("context", dict) or nothing
        actions = batch.objects("actions", dict) or nothing
        shares = batch.objects("probabilities", dict) or nothing
        times = [_times(batch, name) for name in ("decided_at", "told_at")]
        for k, label in enumerate(batch.labels()):
            if changed[k]:
                self._change(int(rounds[k]), int(events[k]), label, outcomes[k] == "added")
                continue
            self.rows.append(
                LogRow(
                    round=int(rounds[k]),
                    arm=self.names.setdefault(label, len(self.names)),
                    probability=float(probabilities[k]),
                    loss=float(losses[k]),
                    arrival=None if np.isnan(arrivals[k]) else int(arrivals[k]),
                    missing=int(missing[k]),
                    withdrawn=bool(withdrawn[k]),
                    event=int(events[k]),
                    place=batch.places[k],
                    context=contexts[k],
                    actions=actions[k],
                    among=None if shares[k] is None else frozenset(shares[k]),
                    decided_at=float(times[0][k]),
                    told_at=float(times[1][k]),
                )
            )

    def log(self, setting: Setting, place: str) -> Log:
        """Return the whole log, after checking that every round has the rows it must have."""
        first = tuple(arm for arm in self.names.values() if arm not in self.new)
        rounds = _by_round(self.rows, tuple(self.names), setting, place)
        return Log(tuple(self.names), rounds, first, tuple(self.changes.values()))

    def _probabilities(self, batch: Batch, changed: Mask) -> Floats:
        if "probability" not in self.required:
            return np.ones(len(batch.places))
        return batch.probabilities(optional=changed)

    def _missing(self, batch: Batch, rounds: Floats, told: Mask) -> Floats:
        """Return the missing counts of the rows whose loss is learned, if the setting has them."""
        if "missing" not in self.required:
            return np.full(len(batch.places), NO_COUNT)
        values = batch.numbers("missing")
        rule = "must be a whole number from 0 to the number of earlier rounds"
        batch.checked("missing", values, in_range(values, 0.0, rounds - 1.0) | ~told, rule)
        return np.where(told, values, NO_COUNT)

    def _change(self, round_: int, event: int, label: str, added: bool) -> None:
        if added and label not in self.names:
            self.new.add(len(self.names))
        arm = self.names.setdefault(label, len(self.names))
        change = self.changes.setdefault(event, ArmChange(round_, event))
        (change.added if added else change.removed).append(arm)


def _events(batch: Batch, changed: Mask) -> Floats:
    """Return the column `event`, 0 where it is empty; a change of arms must have a number."""
    if "event" not in batch.columns:
        if changed.any():
            raise ValueError("there is no column 'event'; a log in which arms change must have it")
        return np.zeros(len(batch.places))
    events = batch.numbers("event")
    fine = in_range(events, 0.0) | (np.isnan(events) & ~changed)
    return np.nan_to_num(batch.checked("event", events, fine, "must be a whole number, at least 0"))


def _times(batch: Batch, name: str) -> Floats:
    """Return a column of times in seconds; NaN where there is none, as where times are texts."""
    try:
        return batch.numbers(name)
    except (KeyError, ValueError):
        return np.full(len(batch.places), np.nan)


def _by_round(
    rows: list[LogRow], arms: Sequence[str], setting: Setting, place: str
) -> list[list[LogRow]]:
    """Group the rows by round, after checking that no round lacks a row or has one too many."""
    count = max(row.round for row in rows)
    if count > len(rows):
        raise ValueError(f"there are {len(rows)} rows for {count} rounds; rounds must have no gap")
    rounds: list[list[LogRow]] = [[] for _ in range(count)]
    for row in rows:
        same = rounds[row.round - 1]
        again = [other for other in same if other.arm == row.arm]
        if again:
            raise duplicate(row.round, arms[row.arm], place, again[0].place, row.place)
        if same and setting is not Setting.FULL_INFORMATION:
            raise ValueError(
                f"round {row.round} has two rows ({place}s {same[0].place} and {row.place}); in a "
                "bandit's log every round must have one"
            )
        same.append(row)
    if setting is Setting.FULL_INFORMATION and len(arms) > 1 and max(map(len, rounds)) == 1:
        raise ValueError(
            "every round has the row of one arm, as in a bandit's log; experts must be told the "
            "loss of every arm"
        )
    empty = [t for t, same in enumerate(rounds, 1) if not same]
    if empty:
        raise ValueError(f"round {empty[0]} has no row; rounds must run from 1 without a gap")
    return rounds
