"""Tables of losses and delays in CSV and Parquet files, read and checked batch by batch."""

import csv
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Counts, Floats
from belated.checks import MOST_ROUNDS

BATCH_ROWS = 2**13
LATENESS = ("delay", "arrival")
COLUMNS = ("round", "arm", "loss", *LATENESS)
PLACES = {".csv": "line", ".parquet": "row"}  # the files that can be read, and their places


class Batch(NamedTuple):
    """Some rows of a table: the values of each column, and where in the file they stand."""

    columns: dict[str, Sequence[Any]]
    places: Sequence[int]
    place: str

    def numbers(self, name: str) -> Floats:
        """The numbers of a column, NaN where it is empty."""
        values = self.columns[name]
        kept = [math.nan if value is None or value == "" else value for value in values]
        try:
            numbers = np.array(list(map(float, kept)), dtype=np.float64)
        except (TypeError, ValueError):
            self._blame(name, [not _is_number(value) for value in kept], "must be a number")
        unclear = [isinstance(kept[row], str) for row in np.flatnonzero(np.isnan(numbers))]
        if any(unclear):
            said = np.isnan(numbers)
            said[said] = unclear
            self._blame(name, said, "must be a number")
        return numbers

    def checked(self, name: str, numbers: Floats, fine: NDArray[np.bool_], rule: str) -> Floats:
        """The numbers, if all are fine."""
        if not fine.all():
            self._blame(name, ~fine, rule)
        return numbers

    def labels(self) -> list[str]:
        """The names of the arms."""
        values = self.columns["arm"]
        if None in values or "" in values:
            self._blame("arm", [value in (None, "") for value in values], "must be a name")
        return list(map(str, values))

    def _blame(self, name: str, wrong: Sequence[bool] | NDArray[np.bool_], rule: str) -> NoReturn:
        row = int(np.flatnonzero(wrong)[0])
        value = self.columns[name][row]
        shown = "empty" if value is None or value == "" else repr(value).strip("'")
        raise ValueError(f"{self.place} {self.places[row]}: {name} is {shown}; it {rule}")


class Rows(NamedTuple):
    """Checked rows: round from 1, arm by number, loss, delay (NaN for never), place in the file."""

    rounds: Counts
    arms: Counts
    losses: Floats
    delays: Floats
    places: Counts


def read_rows(path: Path, names: dict[str, int]) -> Iterator[Rows]:
    """The rows of a file; `names` is filled with the number of each arm."""
    batches = _parquet(path) if path.suffix.lower() == ".parquet" else _csv(path)
    for batch in batches:
        rounds = batch.numbers("round")
        fine = (rounds >= 1) & (rounds <= MOST_ROUNDS) & (rounds == np.floor(rounds))
        batch.checked("round", rounds, fine, f"must be a whole number from 1 to {MOST_ROUNDS}")
        losses = batch.numbers("loss")
        batch.checked("loss", losses, (losses >= 0.0) & (losses <= 1.0), "must be in [0, 1]")
        arms = [names.setdefault(label, len(names)) for label in batch.labels()]
        delays = _delays(batch, rounds)
        yield Rows(rounds.astype(np.int64), np.array(arms), losses, delays, np.array(batch.places))


def _delays(batch: Batch, rounds: Floats) -> Floats:
    name = "delay" if "delay" in batch.columns else "arrival"
    least = np.zeros_like(rounds) if name == "delay" else rounds
    numbers = batch.numbers(name)
    with np.errstate(invalid="ignore"):
        fine = (numbers >= least) & (numbers < math.inf) & (numbers == np.floor(numbers))
    rule = "at least 0" if name == "delay" else "at least its round"
    rule = f"must be a whole number, {rule}, or empty for never"
    return batch.checked(name, numbers, fine | np.isnan(numbers), rule) - least


def _csv(path: Path) -> Iterator[Batch]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            columns = _known(header)
            filled = filter(None, reader)
            numbered = ((reader.line_num, row) for row in filled)
            while rows := list(itertools.islice(numbered, BATCH_ROWS)):
                yield _batch(rows, header, columns)
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"it is not CSV in UTF-8: {error}") from None


def _batch(rows: list[tuple[int, list[str]]], header: list[str], columns: list[str]) -> Batch:
    lines, records = zip(*rows, strict=True)
    if set(map(len, records)) != {len(header)}:
        line, count = next((line, len(row)) for line, row in rows if len(row) != len(header))
        raise ValueError(
            f"line {line}: there are {count} fields; there must be {len(header)} as in the header"
        )
    fields = dict(zip(header, zip(*records, strict=True), strict=True))
    return Batch({name: fields[name] for name in columns}, lines, PLACES[".csv"])


def _parquet(path: Path) -> Iterator[Batch]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError("reading Parquet needs pyarrow: pip install 'belated[parquet]'") from None
    try:
        with parquet.ParquetFile(path) as file:
            columns = _known(file.schema_arrow.names)
            row = 0
            for batch in file.iter_batches(BATCH_ROWS, columns=columns):
                values = {name: batch.column(name).to_pylist() for name in columns}
                yield Batch(values, range(row + 1, row + 1 + batch.num_rows), PLACES[".parquet"])
                row += batch.num_rows
    except pyarrow.ArrowException as error:
        raise ValueError(f"it is not Parquet: {str(error).splitlines()[0]}") from None


def _known(header: Iterable[str]) -> list[str]:
    """The columns to read, in a table that has all it must have, each once."""
    found = [name for name in header if name in COLUMNS]
    for name in COLUMNS:
        if found.count(name) > 1:
            raise ValueError(f"the column {name!r} stands twice; each must stand once")
    absent = [name for name in ("round", "arm", "loss") if name not in found]
    late = [name for name in LATENESS if name in found]
    if absent or len(late) != 1:
        has = ", ".join(header) or "none"
        raise ValueError(
            f"the columns are {has}; there must be round, arm, loss and either delay or arrival"
        )
    return found


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
