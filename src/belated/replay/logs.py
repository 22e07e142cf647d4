"""Logs of decisions that somebody else made, and what a learner would have predicted along them.

A log has the columns round, arm, probability, loss and arrival (the round at whose end the loss
was known; empty for never), and for the partially concealed learner also missing. A bandit's log
has one row a round, an experts' log one for each expert and round. It may have a column outcome: a
play that is "cancelled" there is withdrawn at its arrival, and has no loss; and a row may say that
its arm was "added" or "removed" after its round. A column event orders what came in one round.
"""

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from belated.checks import as_count, as_number
from belated.types import Setting

CUT_SHORT = "\0"  # stands for fields that a row has too few or too many of
COLUMNS = ("round", "arm", "probability", "loss", "arrival", "missing", "outcome", "event")
REQUIRED = ("round", "arm", "loss", "arrival")


@dataclass(frozen=True)
class LogRow:
    """One decision of the log, checked; arm is the index of its name."""

    round: int
    arm: int
    probability: float
    loss: float
    arrival: int | None
    missing: int
    withdrawn: bool = False
    event: int = 0


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

    `arms` names all there ever were, `first` says which of them it began with.
    """

    arms: tuple[str, ...]
    rounds: list[list[LogRow]]
    first: tuple[int, ...]
    changes: tuple[ArmChange, ...] = ()

    def most_outstanding(self) -> int:
        """The largest number of unanswered plays of one arm at the start of a round."""
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
    """A log from a CSV or Parquet file; arms that are not given come as the log names them."""
    records = _parquet(path) if path.suffix.lower() == ".parquet" else _csv(path)
    required = list(REQUIRED)
    if setting is not Setting.FULL_INFORMATION:
        required.append("probability")
    if setting is Setting.PARTIALLY_CONCEALED:
        required.append("missing")
    names = {arm: place for place, arm in enumerate(arms)}
    rows, changes = [], ArmChanges()
    for line, record in enumerate(records, 2):
        try:
            if not changes.take(record, names):
                rows.append(_row(record, required, names))
        except ValueError as error:
            raise ValueError(f"{path.name}, line {line}: {error}") from None
    if not rows:
        raise ValueError(f"{path.name} has no rows; a log must have at least one")
    try:
        first = tuple(place for place in names.values() if place not in changes.new)
        return Log(tuple(names), _by_round(rows, setting), first, tuple(changes.found.values()))
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


class ArmChanges:
    """The changes of arms that stand in a log, by event, and the arms that came by them."""

    def __init__(self) -> None:
        self.found: dict[int, ArmChange] = {}
        self.new: set[int] = set()

    def take(self, record: dict[str, Any], names: dict[str, int]) -> bool:
        """Whether this row is about a change; it is remembered then."""
        became = record.get("outcome")
        if became not in ("added", "removed"):
            return False
        round_ = as_count(_number(record.get("round"), "round"), "round", 0)
        event = as_count(_number(record.get("event"), "event"), "event", 0)
        if became == "added" and str(record["arm"]) not in names:
            self.new.add(len(names))
        arm = names.setdefault(str(record["arm"]), len(names))
        change = self.found.setdefault(event, ArmChange(round_, event))
        (change.added if became == "added" else change.removed).append(arm)
        return True


def _csv(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            yield from csv.DictReader(file, restkey=CUT_SHORT, restval=CUT_SHORT)
        except csv.Error as error:
            raise ValueError(f"{path.name} is not CSV: {error}") from None


def _parquet(path: Path) -> Iterable[dict[str, Any]]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise ValueError(
            f"{path.name} is Parquet, and reading it needs pyarrow: pip install 'belated[parquet]'"
        ) from None
    known = [name for name in parquet.read_schema(path).names if name in COLUMNS]
    yield from parquet.read_table(path, columns=known).to_pylist()


def _row(record: dict[str, Any], required: list[str], names: dict[str, int]) -> LogRow:
    absent = [name for name in required if name not in record]
    if absent:
        raise ValueError(f"there is no column {absent[0]!r}; a log must have {', '.join(required)}")
    if CUT_SHORT in record.values() or CUT_SHORT in record:
        raise ValueError("the row does not have as many fields as the header")
    round_ = as_count(_number(record["round"], "round"), "round", 1)
    arrival = None
    if not _empty(record["arrival"]):
        arrival = as_count(_number(record["arrival"], "arrival"), "arrival", round_)
    loss, withdrawn = 0.0, record.get("outcome") == "cancelled"
    if (arrival is not None and not withdrawn) or not _empty(record["loss"]):
        loss = _number(record["loss"], "loss")
        if not 0.0 <= loss <= 1.0:
            raise ValueError(f"loss is {loss!r}; it must be in [0, 1]")
    probability = 1.0
    if "probability" in required:
        probability = _number(record["probability"], "probability")
        if not 0.0 < probability <= 1.0:
            raise ValueError(f"probability is {probability!r}; it must be above 0 and at most 1")
    missing = -1
    if "missing" in required and arrival is not None and not withdrawn:
        missing = as_count(_number(record["missing"], "missing"), "missing", 0, round_ - 1)
    if _empty(record["arm"]):
        raise ValueError("arm is empty; it must be a name")
    event = 0
    if not _empty(record.get("event")):
        event = as_count(_number(record["event"], "event"), "event", 0)
    arm = names.setdefault(str(record["arm"]), len(names))
    return LogRow(round_, arm, probability, loss, arrival, missing, withdrawn, event)


def _by_round(rows: list[LogRow], setting: Setting) -> list[list[LogRow]]:
    count = max(row.round for row in rows)
    rounds: list[list[LogRow]] = [[] for _ in range(count)] if count <= len(rows) else []
    if not rounds:
        raise ValueError(f"there are {len(rows)} rows for {count} rounds; rounds must have no gap")
    for row in rows:
        same = rounds[row.round - 1]
        if same and setting is not Setting.FULL_INFORMATION:
            raise ValueError(f"round {row.round} stands twice; a bandit plays one arm a round")
        if any(other.arm == row.arm for other in same):
            raise ValueError(f"an arm of round {row.round} stands twice")
        same.append(row)
    empty = [t for t, same in enumerate(rounds, 1) if not same]
    if empty:
        raise ValueError(f"round {empty[0]} has no row; rounds must run from 1 without a gap")
    return rounds


def _empty(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _number(value: Any, name: str) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise ValueError(f"{name} is {value!r}; it must be a number") from None
    return as_number(value, name)
