"""Reads tables from CSV and Parquet files in batches, with every value checked, and writes them.

Data files with losses and delays (`environments.files`) and logs of decisions, to be replayed
(`replay.logs`) or evaluated (`evaluation.logs.journal_columns`), are read here. Only this module
imports pyarrow, and only when a Parquet file is read or written.
"""

import csv
import gzip
import itertools
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.checks import MOST_ROUNDS, LossRange

BATCH_ROWS = 2**13
PLACES = {".csv": "line", ".csv.gz": "line", ".parquet": "row"}  # can be read; what is counted
READABLE = tuple(PLACES)
FORMULA = re.compile(r"'*[=+\-@\t\r]")  # begins a formula, or a text made safe
REWARD = "reward"  # a column that may stand in place of `loss`
UNIT_LOSS = "unit_loss"  # the column of losses in [0, 1], where `loss` is in other units

Mask = NDArray[np.bool_]


class Batch(NamedTuple):
    """Some rows of a table: the values of each column, and the place of each row in the file."""

    columns: Mapping[str, Sequence[Any]]
    places: Sequence[int]
    place: str  # the unit that places are counted in: "line" or "row"

    def numbers(self, name: str) -> Floats:
        """Return the numbers of a column, with NaN where it is empty."""
        values = self.columns[name]
        kept = [math.nan if value is None or value == "" else value for value in values]
        try:
            numbers = np.array(list(map(float, kept)), dtype=np.float64)
        except (TypeError, ValueError):
            comma = any("," in value for value in kept if isinstance(value, str))
            rule = "must be a number" + (", with a decimal point" if comma else "")
            self.refuse(name, [not is_number(value) for value in kept], rule)
        unclear = [isinstance(kept[row], str) for row in np.flatnonzero(np.isnan(numbers))]
        if any(unclear):
            said = np.isnan(numbers)
            said[said] = unclear
            self.refuse(name, said, "must be a number")
        return numbers

    def rounds(self, least: Floats | float = 1.0) -> Floats:
        """Return the column `round`: whole numbers from `least`, which may differ between rows."""
        rounds = self.numbers("round")
        rule = f"must be a whole number from 1 to {MOST_ROUNDS}"
        return self.checked("round", rounds, in_range(rounds, least, MOST_ROUNDS), rule)

    def arrivals(self, rounds: Floats) -> Floats:
        """Return the column `arrival`: the round at whose end a loss is known, or NaN for never."""
        arrivals = self.numbers("arrival")
        rule = "must be a whole number, at least its round, or empty for never"
        fine = in_range(arrivals, rounds) | np.isnan(arrivals)
        return self.checked("arrival", arrivals, fine, rule)

    def losses(self, optional: Mask | bool = False) -> Floats:
        """Return the losses, numbers in [0, 1]; where they are optional, empty means NaN.

        They are in the column `unit_loss` if there is one, because then the column `loss` is in the
        units of the one who told it.
        """
        name = UNIT_LOSS if UNIT_LOSS in self.columns else "loss"
        losses = self.numbers(name)
        fine = (losses >= 0.0) & (losses <= 1.0) | (np.isnan(losses) & optional)
        return self.checked(name, losses, fine, "must be in [0, 1]")

    def probabilities(self, optional: Mask | bool = False) -> Floats:
        """Return the column `probability`: above 0 and at most 1, or anything where optional."""
        values = self.numbers("probability")
        fine = (values > 0.0) & (values <= 1.0) | optional
        return self.checked("probability", values, fine, "must be above 0 and at most 1")

    def losses_within(self, units: LossRange) -> Floats:
        """Return the column `loss`, or the losses that the column `reward` stands for.

        The numbers must be in a given range, in which the highest reward is the lowest loss.
        """
        name = REWARD if REWARD in self.columns else "loss"
        numbers = self.numbers(name)
        rule = f"must be in {units}; `belated replay` and `belated evaluate` take logs without it"
        self.checked(name, numbers, ~np.isnan(numbers), rule)
        fine = (numbers >= units.low) & (numbers <= units.high)
        self.checked(name, numbers, fine, f"must be in {units}")
        return units.low + (units.high - numbers) if name == REWARD else numbers

    def labels(self) -> list[str]:
        """Return the column `arm`: names, none of them empty."""
        values = self.columns["arm"]
        if None in values or "" in values:
            self.refuse("arm", [value in (None, "") for value in values], "must be a name")
        return list(map(str, values))

    def objects(self, name: str, kind: type[Any]) -> list[Any] | None:
        """Return a column of dicts or lists, given as such or as JSON; None if it is all empty."""
        if name not in self.columns:
            return None
        found = []
        for k, value in enumerate(self.columns[name]):
            each = value
            if isinstance(value, str) and value.strip():
                try:
                    each = json.loads(value)
                except (ValueError, RecursionError):
                    each = value
            if each is None or each == "" or (isinstance(each, float) and math.isnan(each)):
                each = None
            elif isinstance(each, Mapping) and kind is dict:
                each = dict(each)
            elif not isinstance(each, kind):
                wrong = [row == k for row in range(len(self.places))]
                words = "a JSON object" if kind is dict else "a JSON list"
                self.refuse(name, wrong, f"must be {words}")
            found.append(each)
        return None if all(each is None for each in found) else found

    def checked(self, name: str, numbers: Floats, fine: Mask, rule: str) -> Floats:
        """Return the numbers of a column if all are fine, else raise an error with the rule."""
        if not fine.all():
            self.refuse(name, ~fine, rule)
        return numbers

    def refuse(self, name: str, wrong: Sequence[bool] | Mask, rule: str) -> NoReturn:
        """Raise an error that names the place, the value and the rule of the first wrong row."""
        row = int(np.flatnonzero(wrong)[0])
        value = self.columns[name][row]
        shown = "empty" if value is None or value == "" else repr(value).strip("'")
        raise ValueError(f"{self.place} {self.places[row]}: {name} is {shown}; it {rule}")


def in_range(numbers: Floats, least: Floats | float, most: Floats | float = math.inf) -> Mask:
    """Return where numbers are whole, finite and in a range; NaN is not."""
    with np.errstate(invalid="ignore"):
        whole = np.isfinite(numbers) & (numbers == np.floor(numbers))
        fine: Mask = whole & (numbers >= least) & (numbers <= most)
    return fine


@contextmanager
def errors_naming(path: Path) -> Iterator[None]:
    """Turn errors of reading a file into an error of one sentence that begins with its name."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def kind_of(path: Path) -> str:
    """Return how the name of a file ends, as .csv, .csv.gz or .parquet."""
    return ".csv.gz" if path.name.lower().endswith(".csv.gz") else path.suffix.lower()


def check_readable(path: Path) -> None:
    """Raise an error if the file's name does not end in .csv, .csv.gz or .parquet."""
    if kind_of(path) not in READABLE:
        raise ValueError(
            f"{path.name} is of unknown kind; it must end in {listed_endings(READABLE)}"
        )


def listed_endings(endings: Sequence[str]) -> str:
    """Return endings of file names as "a, b or c"."""
    return f"{', '.join(endings[:-1])} or {endings[-1]}"


def place_in(path: Path) -> str:
    """Return the unit that places in this file are counted in: lines of CSV, rows of Parquet."""
    return PLACES[kind_of(path)]


def duplicate(round_: int, arm: str, place: str, first: int, second: int) -> ValueError:
    """Make the error for two rows of the same round and arm."""
    where = f"{place}s {first} and {second}"
    return ValueError(f"duplicate row for round {round_}, arm {arm!r} ({where})")


def read_batches(
    path: Path,
    required: Sequence[str],
    either: Sequence[Sequence[str]] = (),
    optional: Sequence[str] | None = (),
) -> Iterator[Batch]:
    """Yield the rows of a file in batches, with these columns only; all others too if None.

    The file must have exactly one of the columns of each choice in `either`.
    """
    names = _Columns(required, either, optional)
    return _parquet(path, names) if kind_of(path) == ".parquet" else _csv(path, names)


def frame_columns(frame: Any) -> dict[str, list[Any]]:
    """Return the columns of a DataFrame, an Arrow table or a dict; missing cells become None."""
    if hasattr(frame, "to_pydict"):  # an Arrow table
        frame = frame.to_pydict()
    names = frame.keys() if isinstance(frame, Mapping) else getattr(frame, "columns", None)
    if names is None or not hasattr(frame, "__getitem__"):
        raise ValueError(
            f"the table is a {type(frame).__name__}; it must be a DataFrame, an Arrow table or a "
            "dict of columns"
        )
    columns = {str(name): [_cell_in(each) for each in frame[name]] for name in names}
    sizes = {len(values) for values in columns.values()}
    if len(sizes) > 1:
        raise ValueError(f"the columns have {sorted(sizes)} values; all must have the same number")
    return columns


def columns_batch(
    columns: Mapping[str, Sequence[Any]],
    required: Sequence[str],
    either: Sequence[Sequence[str]] = (),
    optional: Sequence[str] | None = (),
) -> Batch:
    """Return columns in memory as one batch, after checking that there are the required ones."""
    known = _Columns(required, either, optional).known(list(columns))
    count = len(columns[known[0]])
    return Batch({name: columns[name] for name in known}, range(1, count + 1), "row")


def _cell_in(value: Any) -> Any:
    """Return a value of a DataFrame; None for what stands where there is none."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, (np.datetime64, np.timedelta64)):  # float would count nanoseconds
        return value.astype(f"{value.dtype.kind}8[us]").item()
    return None if isinstance(value, (float, np.floating)) and value != value else value


class _Columns(NamedTuple):
    """The columns that a table must have, may have, or must have one of."""

    required: Sequence[str]
    either: Sequence[Sequence[str]]  # one of the columns of each choice
    optional: Sequence[str] | None  # None: whatever else there is

    def known(self, header: Sequence[str]) -> list[str]:
        """Return the columns to read, after checking that the table has the required ones once."""
        others = header if self.optional is None else self.optional
        every = dict.fromkeys([*self.required, *itertools.chain(*self.either), *others])
        found = [name for name in header if name in every]
        for name in every:
            if found.count(name) > 1:
                raise ValueError(f"there are two columns {name!r}; each must be there once")
        absent = [name for name in self.required if name not in found]
        if absent or any(sum(name in found for name in choice) != 1 for choice in self.either):
            has = ", ".join(header) or "none"
            raise ValueError(f"the columns are {has}; there must be {self._rule()}")
        return found

    def _rule(self) -> str:
        if self.either:
            return ", ".join([*self.required, *map(" or ".join, self.either)])
        return f"{', '.join(self.required[:-1])} and {self.required[-1]}"


def cell_of(value: object) -> object:
    """Return a value as a cell of CSV: a text that a spreadsheet would run gets an apostrophe."""
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def text_in(cell: str) -> str:
    """Return the text that `cell_of` has made a cell of."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def _csv(path: Path, names: _Columns) -> Iterator[Batch]:
    try:
        opened: Any = gzip.open if kind_of(path) == ".csv.gz" else open
        with opened(path, "rt", newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, skipinitialspace=True, delimiter=_delimiter(file.readline()))
            file.seek(0)
            header = [name.strip() for name in next(reader, [])]
            columns = names.known(header)
            filled = filter(None, reader)
            numbered = ((reader.line_num, row) for row in filled)
            while rows := list(itertools.islice(numbered, BATCH_ROWS)):
                yield _batch(rows, header, columns)
    except (csv.Error, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise ValueError(f"it is not CSV in UTF-8: {error}") from None


def _delimiter(header: str) -> str:
    """Return what separates the columns of a header: a comma, a semicolon or a tab."""
    return max(",;\t", key=header.count)


def _batch(rows: list[tuple[int, list[str]]], header: list[str], columns: list[str]) -> Batch:
    lines, records = zip(*rows, strict=True)
    if set(map(len, records)) != {len(header)}:
        line, count = next((line, len(row)) for line, row in rows if len(row) != len(header))
        raise ValueError(
            f"line {line}: there are {count} fields; there must be {len(header)} as in the header"
        )
    fields = dict(zip(header, zip(*records, strict=True), strict=True))
    if "arm" in fields:
        fields["arm"] = tuple(text_in(cell.strip()) for cell in fields["arm"])
    return Batch({name: fields[name] for name in columns}, lines, PLACES[".csv"])


def _parquet(path: Path, names: _Columns) -> Iterator[Batch]:
    pyarrow, parquet = _arrow("reading Parquet needs pyarrow: pip install 'belated[parquet]'")
    try:
        with parquet.ParquetFile(path) as file:
            columns = names.known(file.schema_arrow.names)
            row = 0
            for batch in file.iter_batches(BATCH_ROWS, columns=columns):
                values = {name: batch.column(name).to_pylist() for name in columns}
                yield Batch(values, range(row + 1, row + 1 + batch.num_rows), PLACES[".parquet"])
                row += batch.num_rows
    except pyarrow.ArrowException as error:
        raise ValueError(f"it is not Parquet: {str(error).splitlines()[0]}") from None


def check_parquet() -> None:
    """Raise an error if pyarrow, which writes Parquet, is missing, before any work is done."""
    _arrow("writing Parquet needs pyarrow: pip install 'belated[parquet]', or save as .csv")


def write_parquet(
    columns: Mapping[str, Sequence[Any]], path: Path, types: Mapping[str, str] | None = None
) -> None:
    """Write a table, given as the values of each column, as a Parquet file.

    `types` names the Arrow type of each column; without it they are found from the values.
    """
    check_parquet()
    pyarrow, parquet = _arrow("")
    schema = None
    if types is not None:
        fields = [(name, pyarrow.type_for_alias(kind)) for name, kind in types.items()]
        schema = pyarrow.schema(fields)
    parquet.write_table(pyarrow.table(dict(columns), schema=schema), path)


def arrow_table(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return columns as a table of pyarrow, for other programs that read Arrow."""
    pyarrow, _ = _arrow("Arrow tables need pyarrow: pip install 'belated[parquet]'")
    return pyarrow.table(dict(columns))


def _arrow(refusal: str) -> tuple[Any, Any]:
    """Import pyarrow and pyarrow.parquet, or raise an error with this text."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError(refusal) from None
    return pyarrow, parquet


def is_number(value: Any) -> bool:
    """Return whether a value, or a text, can be read as a number."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
